import { z } from 'zod'
import { ApiKey } from '../../../shared/contract/accounts.ts'
import { FileEntry } from '../../../shared/contract/files.ts'
import { Enforced, RuntimeReport, Sandbox } from '../../../shared/contract/sandboxes.ts'
import { Terminal } from '../../../shared/contract/terminals.ts'

export type JsonSchema = { [key: string]: unknown }

const named = { ApiKey, Enforced, FileEntry, RuntimeReport, Sandbox, Terminal } as const
const definitions = '#/$defs/'

/** Turns schemas of the contract into JSON Schema; those that have a name stand once, under `components`. */
export function schemaComponents() {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const components: Record<string, JsonSchema> = {}

  return {
    components,
    /** @param io `input` is what a caller sends, `output` what the service answers */
    jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
      const { $schema: _, $defs, ...own } = z.toJSONSchema(schema, { metadata: registry, io, override: plain })
      for (const [name, definition] of Object.entries($defs ?? {})) components[name] = renamed(definition)
      return renamed(own)
    },
  }
}

/** Says what a caller needs, not what the validator happens to be able to tell. */
function plain({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  // Answers may gain fields; clients must not be generated to refuse them.
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  const branches = jsonSchema.anyOf ?? []
  if (branches.some((branch) => typeof branch === 'object' && branch.type === 'boolean')) {
    delete jsonSchema.anyOf // a query flag, which takes `1` and `0` too
    jsonSchema.type = 'boolean'
  }
}

function renamed(schema: object): JsonSchema {
  const text = JSON.stringify(schema).replaceAll(`"${definitions}`, '"#/components/schemas/')
  return JSON.parse(text)
}
