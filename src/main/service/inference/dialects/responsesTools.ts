import { createHash } from 'node:crypto'
import type { Tool, ToolChoice } from '../canonical/canonical.ts'
import { createBadRequestError } from '../inferenceError.ts'
import { getList, getString, type JsonObject } from '../json.ts'
import { readObject, readTextField, requireObject, requireText } from './requestFields.ts'

/** Tool of Responses with its unique name in the canonical format. */
export type ResponsesTool = {
  innerName: string
  name: string
  /** Namespace of the tool's group. */
  namespace: string | undefined
  /** Whether the input is text in the tool's own grammar rather than JSON. */
  freeform: boolean
  tool: Tool
}

const maxName = 64

/** Drops tools that only OpenAI can run, with a warning. */
export function parseResponsesTools(list: readonly unknown[], warnings: string[]): ResponsesTool[] {
  return list.flatMap((it, index) =>
    toTools(requireObject(it, `tools[${index}]`), { param: `tools[${index}]`, namespace: undefined, warnings }),
  )
}

type FieldContext = { param: string; namespace: string | undefined; warnings: string[] }

function toTools(tool: JsonObject, { param, namespace, warnings }: FieldContext): ResponsesTool[] {
  switch (tool.type) {
    case 'function': {
      const name = requireText(tool, 'name', `${param}.name`)
      const innerName = toCanonicalName(namespace, name)
      const description = readTextField(tool, 'description', `${param}.description`)
      const parameters = readObject(tool, 'parameters', `${param}.parameters`)
      const strict = typeof tool.strict === 'boolean' ? tool.strict : undefined
      return [
        { innerName, name, namespace, freeform: false, tool: { name: innerName, description, parameters, strict } },
      ]
    }
    case 'custom': {
      const name = requireText(tool, 'name', `${param}.name`)
      const innerName = toCanonicalName(namespace, name)
      return [{ innerName, name, namespace, freeform: true, tool: toFreeformTool(innerName, tool) }]
    }
    case 'namespace': {
      const name = requireText(tool, 'name', `${param}.name`)
      return getList(tool, 'tools').flatMap((it, index) => {
        const inner = `${param}.tools[${index}]`
        return toTools(requireObject(it, inner), { param: inner, namespace: name, warnings })
      })
    }
    default:
      warnings.push(`tool of type ${String(tool.type)} ignored`)
      return []
  }
}

/** Converts a freeform tool for models that support only functions: its text becomes the single parameter. */
function toFreeformTool(name: string, tool: JsonObject): Tool {
  const grammar = getString(tool.format, 'definition')
  const description = [getString(tool, 'description'), grammar && `The input follows this grammar:\n${grammar}`]
  return {
    name,
    description: description.filter((it) => it).join('\n\n') || undefined,
    parameters: {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    },
    strict: undefined,
  }
}

export function toCanonicalName(namespace: string | undefined, name: string): string {
  const joined = namespace === undefined ? name : `${namespace}__${name}`
  if (joined.length <= maxName || namespace === undefined) return joined
  const digest = createHash('sha256').update(joined).digest('hex').slice(0, 8)
  return `${joined.slice(0, maxName - 9)}_${digest}`
}

export function parseResponsesToolChoice(
  choice: unknown,
  tools: readonly ResponsesTool[],
  warnings: string[],
): ToolChoice | undefined {
  if (choice === undefined || choice === null || tools.length === 0) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice }
  const choiceObject = requireObject(choice, 'tool_choice')
  if (choiceObject.type === 'function' || choiceObject.type === 'custom') {
    const name = requireText(choiceObject, 'name', 'tool_choice.name')
    const tool = tools.find((it) => it.name === name)
    if (tool) return { type: 'tool', name: tool.innerName }
    throw createBadRequestError(
      'tool_choice.name',
      `\`tool_choice\` names ${JSON.stringify(name)}, which is not in \`tools\`.`,
    )
  }
  warnings.push(`tool_choice of type ${String(choiceObject.type)} became auto`)
  return { type: 'auto' }
}
