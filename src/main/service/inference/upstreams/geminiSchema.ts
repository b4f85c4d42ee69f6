import { type Loose, looseObject } from '../looseJson.ts'

/** Taken as they are: https://ai.google.dev/api/caching#Schema */
const kept = [
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
/** Words about a schema, which allow and forbid nothing. */
const silent = [
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
/** Definitions may hold themselves; what is deeper than this is any value. */
const maxDepth = 24
/** So many alternatives at most stand for a list of numbers. */
const maxNumbers = 50

/**
 * A JSON schema in the part of OpenAPI's that Gemini takes. What it has no word for is said in another way where one
 * allows exactly the same; otherwise it is left out, which is told.
 */
export function geminiSchema(schema: Loose): { schema: Loose; warnings: string[] } {
  const dropped = new Set<string>()
  const rewritten = rewrite(schema, { root: schema, dropped, open: [], depth: 0 })
  const names = [...dropped].sort().join(', ')
  return { schema: rewritten, warnings: names === '' ? [] : [`the schema lost ${names}`] }
}

type Place = { root: Loose; dropped: Set<string>; open: readonly string[]; depth: number }

function rewrite(value: unknown, place: Place): Loose {
  const given = looseObject(value)
  if (!given) {
    if (value === false) place.dropped.add('false')
    return {}
  }
  if (place.depth > maxDepth) {
    place.dropped.add('nesting')
    return {}
  }
  const inner = { ...place, depth: place.depth + 1 }
  if (typeof given.$ref === 'string') return referred(given.$ref, given, inner)
  if (Array.isArray(given.allOf)) return merged(given, inner)
  const schema: Record<string, unknown> = {}
  for (const name of kept) if (given[name] !== undefined) schema[name] = given[name]
  typed(given, schema, inner)
  valued(given, schema, inner)
  bounded(given, schema, inner)
  nested(given, schema, inner)
  const known = [...kept, ...silent, ...handled]
  for (const name of Object.keys(given)) if (!known.includes(name)) place.dropped.add(name)
  return schema
}

const handled = [
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

function referred(ref: string, given: Loose, place: Place): Loose {
  if (place.open.includes(ref)) {
    place.dropped.add('recursive $ref')
    return { type: 'object' }
  }
  const target = ref.startsWith('#') ? at(place.root, ref.slice(1)) : undefined
  if (!target) {
    place.dropped.add('$ref')
    return {}
  }
  const { $ref: _, ...beside } = given
  return rewrite({ ...target, ...beside }, { ...place, open: [...place.open, ref] })
}

function at(root: Loose, pointer: string): Loose | undefined {
  let found: Loose | undefined = root
  for (const step of pointer.split('/').slice(1)) {
    found = looseObject(found?.[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')])
  }
  return found
}

/** All of them at once: their fields together, properties and required ones joined. */
function merged(given: Loose, place: Place): Loose {
  const { allOf, ...own } = given
  const parts = [...(allOf as unknown[]).map((it) => rewrite(it, place)), rewrite(own, place)]
  const sum: Record<string, unknown> = {}
  for (const part of parts) {
    for (const [name, value] of Object.entries(part)) {
      if (name === 'properties') sum.properties = { ...looseObject(sum.properties), ...looseObject(value) }
      else if (name === 'required') sum.required = [...new Set([...listOf(sum.required), ...listOf(value)])]
      else if (name in sum && JSON.stringify(sum[name]) !== JSON.stringify(value) && name !== 'description') {
        place.dropped.add('allOf')
      } else sum[name] = value
    }
  }
  return sum
}

function typed(given: Loose, schema: Record<string, unknown>, place: Place): void {
  const types = Array.isArray(given.type) ? given.type.filter((it) => typeof it === 'string') : [given.type]
  const real = types.filter((it): it is string => typeof it === 'string' && it !== 'null')
  if (types.includes('null') || given.nullable === true) schema.nullable = true
  const [only] = real
  if (real.length === 1) schema.type = only
  else if (real.length > 1) schema.anyOf = real.map((type) => ofType(type, given, place))
  else if (types.includes('null')) schema.type = 'null'
  else if (given.properties) schema.type = 'object'
  else if (given.items) schema.type = 'array'
  const { format } = given
  if (typeof format !== 'string') return
  if (typeof only === 'string' && formats[only]?.includes(format)) schema.format = format
  else place.dropped.add(`format ${format}`)
}

/** An alternative of a list of types. An array must say of what. */
function ofType(type: string, given: Loose, place: Place): Loose {
  if (type === 'array') return { type, items: given.items === undefined ? {} : rewrite(given.items, place) }
  return { type }
}

/** `enum` is of texts only; a number that is the least and the greatest is the only one. */
function valued(given: Loose, schema: Record<string, unknown>, place: Place): void {
  const values = given.const === undefined ? given.enum : [given.const]
  if (!Array.isArray(values)) return
  if (values.includes(null)) schema.nullable = true
  const real = values.filter((it) => it !== null)
  const texts = real.filter((it): it is string => typeof it === 'string' && it !== '')
  const numbers = real.filter((it) => typeof it === 'number')
  if (texts.length === real.length && texts.length > 0) {
    schema.type ??= 'string'
    schema.enum = texts
  } else if (numbers.length === real.length && numbers.length > 0 && numbers.length <= maxNumbers) {
    const type = numbers.every(Number.isInteger) ? 'integer' : 'number'
    const alternatives = numbers.map((it) => ({ type, minimum: it, maximum: it }))
    if (alternatives.length === 1) Object.assign(schema, alternatives[0])
    else {
      delete schema.type
      schema.anyOf = alternatives
    }
  } else if (real.length === 0) {
    schema.type = 'null'
  } else {
    place.dropped.add(given.const === undefined ? 'enum' : 'const')
    if (real.every((it) => typeof it === 'boolean')) schema.type = 'boolean'
    const said = `One of ${JSON.stringify(values)}.`
    schema.description = [schema.description, said].filter((it) => it !== undefined).join(' ')
  }
}

/** Beyond a whole number is from the next one on. */
function bounded(given: Loose, schema: Record<string, unknown>, place: Place): void {
  const whole = schema.type === 'integer'
  const { exclusiveMinimum, exclusiveMaximum } = given
  if (typeof exclusiveMinimum === 'number') {
    if (!whole) place.dropped.add('exclusiveMinimum')
    const least = whole ? Math.floor(exclusiveMinimum) + 1 : exclusiveMinimum
    schema.minimum = Math.max(least, typeof given.minimum === 'number' ? given.minimum : least)
  } else if (exclusiveMinimum !== undefined && exclusiveMinimum !== false) place.dropped.add('exclusiveMinimum')
  if (typeof exclusiveMaximum === 'number') {
    if (!whole) place.dropped.add('exclusiveMaximum')
    const most = whole ? Math.ceil(exclusiveMaximum) - 1 : exclusiveMaximum
    schema.maximum = Math.min(most, typeof given.maximum === 'number' ? given.maximum : most)
  } else if (exclusiveMaximum !== undefined && exclusiveMaximum !== false) place.dropped.add('exclusiveMaximum')
}

function nested(given: Loose, schema: Record<string, unknown>, place: Place): void {
  const properties = looseObject(given.properties)
  if (properties) {
    schema.properties = Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [name, rewrite(value, place)]),
    )
    const required = listOf(given.required).filter((it) => typeof it === 'string' && it in properties)
    if (required.length > 0) schema.required = required
  } else if (listOf(given.required).length > 0) place.dropped.add('required')
  if (given.additionalProperties !== undefined) place.dropped.add('additionalProperties')
  if (Array.isArray(given.prefixItems)) {
    place.dropped.add('prefixItems')
    schema.items = { anyOf: given.prefixItems.map((it) => rewrite(it, place)) }
  } else if (schema.type === 'array') {
    schema.items = given.items === undefined ? {} : rewrite(given.items, place)
  }
  const alternatives = given.anyOf ?? given.oneOf
  if (!Array.isArray(alternatives)) return
  // More than one of them may fit then.
  if (given.anyOf === undefined) place.dropped.add('oneOf')
  const rewritten = alternatives.map((it) => rewrite(it, place))
  const real = rewritten.filter((it) => it.type !== 'null')
  if (real.length < rewritten.length) schema.nullable = true
  const [only] = real
  if (real.length === 1 && only) Object.assign(schema, { ...only, ...described(schema) })
  else schema.anyOf = real
}

function described({ description }: Loose): Loose {
  return description === undefined ? {} : { description }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
