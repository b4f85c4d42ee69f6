import { type JsonObject, toJsonObject } from '../json.ts'

/**
 * Keywords that Anthropic's structured output ignores:
 * https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs
 */
const ignoredKeywords = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
]
const schemaListKeywords = ['anyOf', 'allOf', 'oneOf', 'prefixItems']
const schemaMapKeywords = ['properties', '$defs', 'definitions']

/**
 * Adapts a schema for Anthropic's structured output: objects are closed, and unsupported constraints are moved to the
 * description.
 */
export function closeSchema(schema: JsonObject): { schema: JsonObject; warnings: string[] } {
  const dropped = new Set<string>()
  const closed = close(schema, dropped)
  const names = [...dropped].sort().join(', ')
  return { schema: closed, warnings: names === '' ? [] : [`the output is not checked for ${names}`] }
}

function close(schema: JsonObject, dropped: Set<string>): JsonObject {
  const closed: Record<string, unknown> = {}
  const limits: string[] = []
  for (const [name, value] of Object.entries(schema)) {
    if (ignoredKeywords.includes(name) || (name === 'minItems' && Number(value) > 1)) {
      dropped.add(name)
      limits.push(`${name}: ${JSON.stringify(value)}`)
    } else if (schemaListKeywords.includes(name) && Array.isArray(value)) {
      closed[name] = value.map((it) => closeIfObject(it, dropped))
    } else if (schemaMapKeywords.includes(name)) {
      const entries = Object.entries(toJsonObject(value) ?? {})
      closed[name] = Object.fromEntries(entries.map(([key, value]) => [key, closeIfObject(value, dropped)]))
    } else if (name === 'items') {
      closed[name] = closeIfObject(value, dropped)
    } else {
      closed[name] = value
    }
  }
  if (isOfObjects(schema)) {
    if (schema.additionalProperties !== false && schema.additionalProperties !== undefined) {
      dropped.add('additionalProperties')
    }
    closed.additionalProperties = false
  }
  if (limits.length > 0) {
    closed.description = [schema.description, `{${limits.join(', ')}}`].filter((it) => it !== undefined).join('\n')
  }
  return closed
}

function closeIfObject(value: unknown, dropped: Set<string>): unknown {
  const schema = toJsonObject(value)
  return schema ? close(schema, dropped) : value
}

function isOfObjects(schema: JsonObject): boolean {
  const { type } = schema
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || (!type && 'properties' in schema)
}
