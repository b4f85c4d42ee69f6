import { z } from 'zod'

/** Enum value that no version of Steward defines. */
export const foreignWord = 'word-of-another-version'

/** Value of a schema with one unknown enum value, and the path of that value. */
export type ForeignSample = { path: readonly (string | number)[]; value: unknown }

/** Whether optional fields of a sample are omitted (`least`) or included (`most`). */
export type Extent = 'least' | 'most'

const texts = [
  'text',
  '2026-01-02T03:04:05.678Z',
  'a'.repeat(32),
  'example.com',
  'www.example.com',
  '/root/file',
  '1',
  '1.5',
  `0x${'a'.repeat(40)}`,
  `0x${'a'.repeat(64)}`,
  `0x${'a'.repeat(130)}`,
  '192.0.2.1',
  'https://example.com/',
  'a1b2c3d4-0000-4000-8000-000000000000',
  'action:abcdefgh',
  '2026-01-02',
  '2026-01',
  'text-name',
  'AAAA',
  '',
  '#aabbcc',
  `eip155:8453:0x${'a'.repeat(40)}`,
  'GET',
  'sandbox:text',
  '127.0.0.1:4000',
] as const
const numbers = [1, 0, 10, 80, 128, 1024, 65_536, -1, 0.5] as const

/** Returns a valid value of a schema. @throws Error for schemas without a known sample */
export function createSample(schema: z.core.$ZodType, extent: Extent = 'most'): unknown {
  const inner = (part: z.core.$ZodType): unknown => createSample(part, extent)
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape as Record<string, z.ZodType>)
    const present = fields.filter(([, part]) => extent === 'most' || !part.safeParse(undefined).success)
    return Object.fromEntries(present.map(([name, part]) => [name, inner(part)]))
  }
  if (schema instanceof z.ZodArray)
    return firstValid(schema, [[inner(schema.def.element)], [], pair(inner(schema.def.element))])
  if (schema instanceof z.ZodEnum) return schema.options[0]
  if (schema instanceof z.ZodLiteral) return [...schema.values][0]
  if (schema instanceof z.ZodUnion) return inner(schema.options[0] as z.core.$ZodType)
  if (schema instanceof z.ZodRecord) return { [String(inner(schema.def.keyType))]: inner(schema.def.valueType) }
  if (schema instanceof z.ZodNullable) return extent === 'least' ? null : inner(schema.def.innerType)
  if (isWrapper(schema)) return inner(schema.def.innerType)
  if (schema instanceof z.ZodPipe) {
    return firstValid(schema, [inner(schema.def.in), ...texts])
  }
  if (schema instanceof z.ZodLazy) return inner(schema.def.getter())
  if (schema instanceof z.ZodTuple) return schema.def.items.map(inner)
  return firstValid(schema as z.ZodType, [...findIds(schema), ...texts, ...numbers, true, null])
}

/** Returns two different texts, for lists of unique items. */
function pair(text: unknown): unknown[] {
  return [text, 'www.example.com']
}

/** Returns the ids that a pattern such as `^pty_[0-9a-f]{24}$` describes. */
function findIds(schema: z.core.$ZodType): string[] {
  if (!(schema instanceof z.ZodString)) return []
  const { pattern = '' } = z.toJSONSchema(schema)
  const [, prefix, count] = /^\^(\w*)\[0-9a-f\]\{(\d+)\}\$$/.exec(pattern) ?? []
  return prefix === undefined ? [] : [prefix + 'a'.repeat(Number(count))]
}

/** Returns one value for each enum in a schema, with that enum's value unknown and everything else valid. */
export function createForeignSamples(schema: z.core.$ZodType): ForeignSample[] {
  return samplesWith(schema, () => [foreignWord])
}

/** Returns one value for each option of each enum in a schema, with everything else unchanged. */
export function createWordSamples(schema: z.core.$ZodType): ForeignSample[] {
  return samplesWith(schema, (word) => (word instanceof z.ZodEnum ? word.options : [...(word as z.ZodLiteral).values]))
}

type WordProvider = (word: z.ZodEnum | z.ZodLiteral) => readonly unknown[]

function samplesWith(schema: z.core.$ZodType, getWords: WordProvider): ForeignSample[] {
  const inner = (part: z.core.$ZodType): ForeignSample[] => samplesWith(part, getWords)
  const under = (key: string | number, part: z.core.$ZodType, wrap: (value: unknown) => unknown): ForeignSample[] =>
    inner(part).map(({ path, value }) => ({ path: [key, ...path], value: wrap(value) }))
  if (schema instanceof z.ZodEnum) return getWords(schema).map((value) => ({ path: [], value }))
  if (schema instanceof z.ZodLiteral) {
    return typeof [...schema.values][0] === 'string' ? getWords(schema).map((value) => ({ path: [], value })) : []
  }
  if (schema instanceof z.ZodObject) {
    const whole = createSample(schema) as Record<string, unknown>
    return Object.entries(schema.shape).flatMap(([name, part]) =>
      under(name, part as z.core.$ZodType, (value) => ({ ...whole, [name]: value })),
    )
  }
  if (schema instanceof z.ZodArray) return under(0, schema.def.element, (value) => [value])
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(inner)
  if (schema instanceof z.ZodRecord) {
    const key = String(createSample(schema.def.keyType))
    return under(key, schema.def.valueType, (value) => ({ [key]: value }))
  }
  if (schema instanceof z.ZodNullable || isWrapper(schema)) return inner(schema.def.innerType)
  if (schema instanceof z.ZodLazy) return inner(schema.def.getter())
  return []
}

/** Adds an unknown field to every object in a value. */
export function withForeignFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withForeignFields)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, part]) => [name, withForeignFields(part)] as const)
  return { ...Object.fromEntries(fields), field_of_another_version: 1 }
}

export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((part, key) => (part as Record<string | number, unknown> | undefined)?.[key], value)
}

type Wrapper = z.ZodOptional | z.ZodDefault | z.ZodPrefault | z.ZodReadonly | z.ZodCatch

function isWrapper(schema: z.core.$ZodType): schema is Wrapper {
  const wrappers = [z.ZodOptional, z.ZodDefault, z.ZodPrefault, z.ZodReadonly, z.ZodCatch]
  return wrappers.some((wrapper) => schema instanceof wrapper)
}

function firstValid(schema: z.ZodType, candidates: readonly unknown[]): unknown {
  const valid = candidates.find((candidate) => schema.safeParse(candidate).success)
  if (valid === undefined)
    throw new Error(
      `There is no sample for ${schema.def.type}: ${JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any' }))}`,
    )
  return valid
}
