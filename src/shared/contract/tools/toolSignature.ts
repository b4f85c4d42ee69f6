import type { Tool } from './tool.ts'
import { toInputSchema, toOutputSchema } from './toolListing.ts'

/**
 * Formats the signature in TypeScript: `sandbox_exec(args: { sandbox_id: string; command: string; timeout?: number }):
 * Promise<{ … }>`.
 */
export function formatToolSignature(tool: Tool): string {
  const input = toInputSchema(tool)
  const isEmpty = Object.keys((input.properties as object | undefined) ?? {}).length === 0
  return `${tool.name}(${isEmpty ? '' : `args: ${toTypeText(input)}`}): Promise<${toTypeText(toOutputSchema(tool))}>`
}

function toTypeText(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null) return 'unknown'
  const node = schema as Record<string, unknown> // a JSON Schema node
  if (Array.isArray(node.enum)) return node.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (node.const !== undefined) return JSON.stringify(node.const)
  const several = node.anyOf ?? node.oneOf
  if (Array.isArray(several)) return several.map(toTypeText).join(' | ')
  switch (node.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return node.type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return `${toTypeText(node.items)}[]`
    case 'object':
      return formatObjectType(node)
    default:
      return 'unknown'
  }
}

function formatObjectType({ properties, required }: Record<string, unknown>): string {
  if (typeof properties !== 'object' || properties === null) return 'Record<string, unknown>'
  const needed = Array.isArray(required) ? required : []
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${name}${needed.includes(name) ? '' : '?'}: ${toTypeText(schema)}`,
  )
  return `{ ${fields.join('; ')} }`
}
