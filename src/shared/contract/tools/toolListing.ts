import { z } from 'zod'
import { type Tool, ToolWaiting } from './tool.ts'

/** As MCP lists a tool. */
export type ListedTool = {
  name: string
  description: string
  inputSchema: JsonObject & { type: 'object' }
  outputSchema: JsonObject & { type: 'object' }
  annotations: {
    readOnlyHint: boolean
    destructiveHint: boolean
    idempotentHint: boolean
    openWorldHint: boolean
  }
}
type JsonObject = { [key: string]: unknown }

/** The same bytes each time: schemas are made in the order in which their fields are written. */
export function toListedTool(tool: Tool): ListedTool {
  const { name, description, effect, overwrites, idempotent, openWorld } = tool
  return {
    name,
    description,
    inputSchema: toInputSchema(tool),
    outputSchema: toOutputSchema(tool),
    annotations: {
      readOnlyHint: effect === 'read',
      destructiveHint: effect === 'destroy' || overwrites,
      idempotentHint: idempotent,
      openWorldHint: openWorld,
    },
  }
}

/** JSON Schema of the arguments, without what costs tokens and tells a model nothing. */
export function toInputSchema({ input }: Tool): ListedTool['inputSchema'] {
  return toObjectSchema(shortenSchema(z.toJSONSchema(input, { io: 'input' })))
}

/** Builds the output schema. If a call may outlast its response, no field of the result is required. */
export function toOutputSchema({ output, mayWait }: Tool): ListedTool['outputSchema'] {
  const whole = mayWait ? output.partial().extend({ waiting: ToolWaiting.optional() }) : output
  return toObjectSchema(shortenSchema(z.toJSONSchema(whole, { io: 'output' })))
}

function toObjectSchema(schema: unknown): JsonObject & { type: 'object' } {
  return schema as JsonObject & { type: 'object' } // of a z.object
}

const widest = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]

function shortenSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(shortenSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(
        ([key, value]) =>
          key !== '$schema' && key !== 'additionalProperties' && key !== 'pattern' && !widest.includes(Number(value)),
      )
      .map(([key, value]) => [key, key === 'enum' || key === 'default' ? value : shortenSchema(value)]),
  )
}
