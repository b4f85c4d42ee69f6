import { type JsonObject, toJsonObject } from '../json.ts'

/** Copied unchanged: https://ai.google.dev/api/caching#Schema */
const supportedKeys = [
  'title',
  'description',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'default',
  'propertyOrdering',
]
/** Annotations of a schema, which do not affect validation. */
const annotationKeywords = [
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  '$anchor',
  'examples',
  'example',
  'readOnly',
  'writeOnly',
  'deprecated',
  'strict',
]
const formats: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
}
/** Definitions may be recursive. Deeper levels accept any value. */
const maxDepth = 24
/** Maximum alternatives that represent a list of numbers. */
const maxNumbers = 50

/**
 * Converts a JSON schema to Gemini's subset of OpenAPI. Unsupported keywords are replaced by equivalents if possible;
 * otherwise they are dropped with a warning.
 */
export function toGeminiSchema(schema: JsonObject): { schema: JsonObject; warnings: string[] } {
  const dropped = new Set<string>()
  const rewritten = rewrite(schema, { root: schema, dropped, open: [], depth: 0 })
  const names = [...dropped].sort().join(', ')
  return { schema: rewritten, warnings: names === '' ? [] : [`the schema lost ${names}`] }
}

type RewriteContext = { root: JsonObject; dropped: Set<string>; open: readonly string[]; depth: number }

function rewrite(value: unknown, context: RewriteContext): JsonObject {
  const object = toJsonObject(value)
  if (!object) {
    if (value === false) context.dropped.add('false')
    return {}
  }
  if (context.depth > maxDepth) {
    context.dropped.add('nesting')
    return {}
  }
  const inner = { ...context, depth: context.depth + 1 }
  if (typeof object.$ref === 'string') return resolveReference(object.$ref, object, inner)
  if (Array.isArray(object.allOf)) return mergeAllOf(object, inner)
  const schema: Record<string, unknown> = {}
  for (const name of supportedKeys) if (object[name] !== undefined) schema[name] = object[name]
  addType(object, schema, inner)
  addValues(object, schema, inner)
  addBounds(object, schema, inner)
  addNested(object, schema, inner)
  const supported = [...supportedKeys, ...annotationKeywords, ...convertedKeywords]
  for (const name of Object.keys(object)) if (!supported.includes(name)) context.dropped.add(name)
  return schema
}

const convertedKeywords = [
  'type',
  'nullable',
  'format',
  'enum',
  'const',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'properties',
  'required',
  'items',
  'prefixItems',
  'anyOf',
  'oneOf',
  'additionalProperties',
]

function resolveReference(ref: string, schema: JsonObject, context: RewriteContext): JsonObject {
  if (context.open.includes(ref)) {
    context.dropped.add('recursive $ref')
    return { type: 'object' }
  }
  const target = ref.startsWith('#') ? findPointer(context.root, ref.slice(1)) : undefined
  if (!target) {
    context.dropped.add('$ref')
    return {}
  }
  const { $ref: _, ...beside } = schema
  return rewrite({ ...target, ...beside }, { ...context, open: [...context.open, ref] })
}

function findPointer(root: JsonObject, pointer: string): JsonObject | undefined {
  let value: JsonObject | undefined = root
  for (const step of pointer.split('/').slice(1)) {
    value = toJsonObject(value?.[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')])
  }
  return value
}

/** Merges the schemas of `allOf`: their fields, properties and required names. */
function mergeAllOf(schema: JsonObject, context: RewriteContext): JsonObject {
  const { allOf, ...rest } = schema
  const parts = [...(allOf as unknown[]).map((it) => rewrite(it, context)), rewrite(rest, context)]
  const sum: Record<string, unknown> = {}
  for (const part of parts) {
    for (const [name, value] of Object.entries(part)) {
      if (name === 'properties') sum.properties = { ...toJsonObject(sum.properties), ...toJsonObject(value) }
      else if (name === 'required') sum.required = [...new Set([...toList(sum.required), ...toList(value)])]
      else if (name in sum && JSON.stringify(sum[name]) !== JSON.stringify(value) && name !== 'description') {
        context.dropped.add('allOf')
      } else sum[name] = value
    }
  }
  return sum
}

function addType(source: JsonObject, schema: Record<string, unknown>, context: RewriteContext): void {
  const types = Array.isArray(source.type) ? source.type.filter((it) => typeof it === 'string') : [source.type]
  const real = types.filter((value): value is string => typeof value === 'string' && value !== 'null')
  if (types.includes('null') || source.nullable === true) schema.nullable = true
  const [only] = real
  if (real.length === 1) schema.type = only
  else if (real.length > 1) schema.anyOf = real.map((type) => toTypedSchema(type, source, context))
  else if (types.includes('null')) schema.type = 'null'
  else if (source.properties) schema.type = 'object'
  else if (source.items) schema.type = 'array'
  const { format } = source
  if (typeof format !== 'string') return
  if (typeof only === 'string' && formats[only]?.includes(format)) schema.format = format
  else context.dropped.add(`format ${format}`)
}

/** Converts one alternative of a list of types. An array requires `items`. */
function toTypedSchema(type: string, source: JsonObject, context: RewriteContext): JsonObject {
  if (type === 'array') return { type, items: source.items === undefined ? {} : rewrite(source.items, context) }
  return { type }
}

/** Gemini's `enum` supports only strings, so a single number becomes both minimum and maximum. */
function addValues(source: JsonObject, schema: Record<string, unknown>, context: RewriteContext): void {
  const values = source.const === undefined ? source.enum : [source.const]
  if (!Array.isArray(values)) return
  if (values.includes(null)) schema.nullable = true
  const real = values.filter((it) => it !== null)
  const texts = real.filter((value): value is string => typeof value === 'string' && value !== '')
  const numbers = real.filter((it) => typeof it === 'number')
  if (texts.length === real.length && texts.length > 0) {
    schema.type ??= 'string'
    schema.enum = texts
  } else if (numbers.length === real.length && numbers.length > 0 && numbers.length <= maxNumbers) {
    const type = numbers.every(Number.isInteger) ? 'integer' : 'number'
    const alternatives = numbers.map((value) => ({ type, minimum: value, maximum: value }))
    if (alternatives.length === 1) Object.assign(schema, alternatives[0])
    else {
      delete schema.type
      schema.anyOf = alternatives
    }
  } else if (real.length === 0) {
    schema.type = 'null'
  } else {
    context.dropped.add(source.const === undefined ? 'enum' : 'const')
    if (real.every((it) => typeof it === 'boolean')) schema.type = 'boolean'
    const said = `One of ${JSON.stringify(values)}.`
    schema.description = [schema.description, said].filter((it) => it !== undefined).join(' ')
  }
}

/** An exclusive bound of an integer becomes the next integer. */
function addBounds(source: JsonObject, schema: Record<string, unknown>, context: RewriteContext): void {
  const whole = schema.type === 'integer'
  const { exclusiveMinimum, exclusiveMaximum } = source
  if (typeof exclusiveMinimum === 'number') {
    if (!whole) context.dropped.add('exclusiveMinimum')
    const min = whole ? Math.floor(exclusiveMinimum) + 1 : exclusiveMinimum
    schema.minimum = Math.max(min, typeof source.minimum === 'number' ? source.minimum : min)
  } else if (exclusiveMinimum !== undefined && exclusiveMinimum !== false) context.dropped.add('exclusiveMinimum')
  if (typeof exclusiveMaximum === 'number') {
    if (!whole) context.dropped.add('exclusiveMaximum')
    const max = whole ? Math.ceil(exclusiveMaximum) - 1 : exclusiveMaximum
    schema.maximum = Math.min(max, typeof source.maximum === 'number' ? source.maximum : max)
  } else if (exclusiveMaximum !== undefined && exclusiveMaximum !== false) context.dropped.add('exclusiveMaximum')
}

function addNested(source: JsonObject, schema: Record<string, unknown>, context: RewriteContext): void {
  const properties = toJsonObject(source.properties)
  if (properties) {
    schema.properties = Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [name, rewrite(value, context)]),
    )
    const required = toList(source.required).filter((value) => typeof value === 'string' && value in properties)
    if (required.length > 0) schema.required = required
  } else if (toList(source.required).length > 0) context.dropped.add('required')
  if (source.additionalProperties !== undefined) context.dropped.add('additionalProperties')
  if (Array.isArray(source.prefixItems)) {
    context.dropped.add('prefixItems')
    schema.items = { anyOf: source.prefixItems.map((it) => rewrite(it, context)) }
  } else if (schema.type === 'array') {
    schema.items = source.items === undefined ? {} : rewrite(source.items, context)
  }
  const alternatives = source.anyOf ?? source.oneOf
  if (!Array.isArray(alternatives)) return
  // Unlike `oneOf`, `anyOf` accepts values that match several alternatives.
  if (source.anyOf === undefined) context.dropped.add('oneOf')
  const rewritten = alternatives.map((it) => rewrite(it, context))
  const real = rewritten.filter((it) => it.type !== 'null')
  if (real.length < rewritten.length) schema.nullable = true
  const [only] = real
  if (real.length === 1 && only) Object.assign(schema, { ...only, ...pickDescription(schema) })
  else schema.anyOf = real
}

function pickDescription({ description }: JsonObject): JsonObject {
  return description === undefined ? {} : { description }
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
