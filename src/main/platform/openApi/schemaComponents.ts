import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

export type JsonSchema = { [key: string]: unknown }
export type SchemaComponents = ReturnType<typeof createSchemaComponents>

const definitions = '#/$defs/'

/** Converts schemas of the contract to JSON Schema. Named schemas are added once, under `components`. */
export function createSchemaComponents(named: Readonly<Record<string, z.ZodType>>) {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const components: Record<string, JsonSchema> = {}

  const define = (name: string, definition: object): void => {
    const schema = renameReferences(definition)
    // A name cannot be shared by the input and output of a schema if defaults make them differ.
    if (components[name] && !isDeepStrictEqual(components[name], schema)) {
      throw new Error(`The schema ${name} differs between requests and responses.`)
    }
    components[name] = schema
  }

  return {
    components,
    /** @param io `input` for requests, `output` for responses */
    jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
      const {
        $schema: _,
        $defs,
        ...root
      } = z.toJSONSchema(schema, { metadata: registry, io, override: simplifySchema })
      for (const [name, definition] of Object.entries($defs ?? {})) define(name, definition)
      return renameReferences(root)
    },
  }
}

/** Removes details of the validator that do not matter to callers. */
function simplifySchema({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  // Responses may gain fields, so generated clients must accept unknown ones.
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  // Drops patterns with Unicode property classes, which need the flag `u` and are written differently in other
  // languages.
  if (jsonSchema.pattern !== undefined && /\\[pP]\{/.test(jsonSchema.pattern)) delete jsonSchema.pattern
  // Formats with an underscore are internal to zod and not OpenAPI formats.
  if (jsonSchema.format !== undefined && /_/.test(jsonSchema.format)) delete jsonSchema.format
  if (isQueryFlag(jsonSchema.anyOf ?? [])) {
    delete jsonSchema.anyOf
    jsonSchema.type = 'boolean'
  }
}

/** Whether the schema is a boolean that also accepts the texts `true` and `1`. */
function isQueryFlag(branches: readonly (boolean | z.core.JSONSchema.BaseSchema)[]): boolean {
  const [text, flag, ...more] = branches.filter((branch) => typeof branch === 'object')
  return more.length === 0 && text?.enum?.includes('true') === true && flag?.type === 'boolean'
}

function renameReferences(schema: object): JsonSchema {
  const text = JSON.stringify(schema).replaceAll(`"${definitions}`, '"#/components/schemas/')
  return JSON.parse(text)
}
