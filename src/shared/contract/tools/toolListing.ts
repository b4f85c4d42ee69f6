import { z } from 'zod'
import { type Tool, ToolWaiting } from './tool.ts'

/** Tool in the format of MCP. */
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

/**
 * Builds the MCP listing of a tool. The output is byte-identical on each call: schemas have the order in which their
 * fields are declared.
 */
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

/** Builds the JSON Schema of the arguments, without properties that cost tokens and do not help a model. */
export function toInputSchema({ input }: Tool): ListedTool['inputSchema'] {
  return toObjectSchema(shortenSchema(z.toJSONSchema(input, { io: 'input' })))
}

/** Builds the output schema. If a call may outlast its response, all fields of the result are optional. */
export function toOutputSchema({ output, mayWait }: Tool): ListedTool['outputSchema'] {
  const whole = mayWait ? output.partial().extend({ waiting: ToolWaiting.optional() }) : output
  return toObjectSchema(shortenSchema(z.toJSONSchema(whole, { io: 'output' })))
}

function toObjectSchema(schema: unknown): JsonObject & { type: 'object' } {
  return schema as JsonObject & { type: 'object' } // generated from a z.object
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
