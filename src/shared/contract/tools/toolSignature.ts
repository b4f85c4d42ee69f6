import type { Tool } from './tool.ts'
import { inputSchemaOf, outputSchemaOf } from './toolListing.ts'

/** As TypeScript: `sandbox_exec(args: { sandbox_id: string; command: string; timeout?: number }): Promise<{ … }>`. */
export function toolSignature(tool: Tool): string {
  const input = inputSchemaOf(tool)
  const isEmpty = Object.keys((input.properties as object | undefined) ?? {}).length === 0
  return `${tool.name}(${isEmpty ? '' : `args: ${typeOf(input)}`}): Promise<${typeOf(outputSchemaOf(tool))}>`
}

function typeOf(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null) return 'unknown'
  const given = schema as Record<string, unknown> // JSON Schema
  if (Array.isArray(given.enum)) return given.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (given.const !== undefined) return JSON.stringify(given.const)
  const several = given.anyOf ?? given.oneOf
  if (Array.isArray(several)) return several.map(typeOf).join(' | ')
  switch (given.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return given.type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return `${typeOf(given.items)}[]`
    case 'object':
      return objectType(given)
    default:
      return 'unknown'
  }
}

function objectType({ properties, required }: Record<string, unknown>): string {
  if (typeof properties !== 'object' || properties === null) return 'Record<string, unknown>'
  const needed = Array.isArray(required) ? required : []
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${name}${needed.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  return `{ ${fields.join('; ')} }`
}
