import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

export type JsonSchema = { [key: string]: unknown }
export type SchemaComponents = ReturnType<typeof createSchemaComponents>

const definitions = '#/$defs/'

/** Turns schemas of the contract into JSON Schema; those that have a name stand once, under `components`. */
export function createSchemaComponents(named: Readonly<Record<string, z.ZodType>>) {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const components: Record<string, JsonSchema> = {}

  const define = (name: string, definition: object): void => {
    const schema = renameReferences(definition)
    // One name cannot stand for what is sent and for what is answered where defaults make them two.
    if (components[name] && !isDeepStrictEqual(components[name], schema)) {
      throw new Error(`The schema ${name} has another form where it is sent than where it is answered.`)
    }
    components[name] = schema
  }

  return {
    components,
    /** @param io `input` is what a caller sends, `output` what is answered */
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

/** Says what a caller needs, not what the validator happens to be able to tell. */
function simplifySchema({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  // Answers may gain fields; clients must not be generated to refuse them.
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  // Unicode property classes, which need the flag `u`, are spelled differently in other languages.
  if (jsonSchema.pattern !== undefined && /\\[pP]\{/.test(jsonSchema.pattern)) delete jsonSchema.pattern
  // Names of zod's own checks are not OpenAPI formats.
  if (jsonSchema.format !== undefined && /_/.test(jsonSchema.format)) delete jsonSchema.format
  if (isQueryFlag(jsonSchema.anyOf ?? [])) {
    delete jsonSchema.anyOf
    jsonSchema.type = 'boolean'
  }
}

/** A boolean that is also understood as the texts `true` and `1`. */
function isQueryFlag(branches: readonly (boolean | z.core.JSONSchema.BaseSchema)[]): boolean {
  const [text, flag, ...more] = branches.filter((branch) => typeof branch === 'object')
  return more.length === 0 && text?.enum?.includes('true') === true && flag?.type === 'boolean'
}

function renameReferences(schema: object): JsonSchema {
  const text = JSON.stringify(schema).replaceAll(`"${definitions}`, '"#/components/schemas/')
  return JSON.parse(text)
}
