import { z } from 'zod'
import type { Output, Route } from './route.ts'

/** List entry that does not match its schema, unchanged. Written by another version of Steward. */
export type UnreadableEntry = { path: string; value: unknown }

/** Parsed response. Invalid list entries are returned separately instead of rejecting the response. */
export type ParsedResponse<R extends Route> =
  | { success: true; answer: Output<R>; unreadable: readonly UnreadableEntry[] }
  | { success: false; error: z.ZodError }

/** Maximum length of an unknown enum value, in characters. */
const maxWordLength = 256

/**
 * Schema of an enum for reading. Accepts values that are unknown to this version. Requests, and responses that are
 * written, use strict schemas.
 */
export function openEnum(): z.ZodString {
  return z.string().max(maxWordLength)
}

/**
 * Parses a response of another version of Steward. Accepts unknown enum values and fields. Invalid list entries are
 * omitted and returned separately.
 */
export function parseResponse<R extends Route>(route: R, value: unknown): ParsedResponse<R> {
  const read = toOpenSchema(route.response).safeParse(value)
  // same shape with more enum values
  if (read.success) return { success: true, answer: read.data as Output<R>, unreadable: [] }
  const lenient = toLenientSchema(route.response).safeParse(value)
  if (!lenient.success) return { success: false, error: read.error }
  const unreadable: UnreadableEntry[] = []
  const answer = omitUnreadable(lenient.data, { path: '', unreadable })
  return { success: true, answer: answer as Output<R>, unreadable }
}

/** Parses an event of another version of Steward. @returns undefined for unknown event types */
export function readEvent<T extends z.ZodDiscriminatedUnion>(union: T, value: unknown): z.output<T> | undefined {
  const { discriminator } = union.def
  const type =
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[discriminator] : undefined
  if (!hasVariant(union, type)) return undefined
  return toOpenSchema(union).parse(value) as z.output<T>
}

/** Handling of invalid list entries: an error, or a marker in their position. */
type Mode = 'open' | 'lenient'
const caches: Readonly<Record<Mode, WeakMap<z.core.$ZodType, z.ZodType>>> = {
  open: new WeakMap(),
  lenient: new WeakMap(),
}

const toOpenSchema = (schema: z.core.$ZodType): z.ZodType => openSchema(schema, 'open')
const toLenientSchema = (schema: z.core.$ZodType): z.ZodType => openSchema(schema, 'lenient')

function openSchema(schema: z.core.$ZodType, mode: Mode): z.ZodType {
  const cache = caches[mode]
  const before = cache.get(schema)
  if (before) return before
  const opened = open(schema, mode)
  cache.set(schema, opened)
  return opened
}

function open(schema: z.core.$ZodType, mode: Mode): z.ZodType {
  const inner = (part: z.core.$ZodType): z.ZodType => openSchema(part, mode)
  if (schema instanceof z.ZodEnum) return schema.options.every((it) => typeof it === 'string') ? openEnum() : schema
  if (schema instanceof z.ZodLiteral) return openLiteral(schema)
  if (schema instanceof z.ZodObject) {
    const shape = Object.fromEntries(Object.entries(schema.shape).map(([name, part]) => [name, inner(part)]))
    return schema.clone({ ...schema.def, shape })
  }
  if (schema instanceof z.ZodArray) {
    const element = inner(schema.def.element)
    const isMarked = mode === 'lenient' && isObject(schema.def.element)
    return schema.clone({
      ...schema.def,
      element: isMarked ? element.catch((context: z.core.$ZodCatchCtx) => new Unreadable(context.value)) : element,
    })
  }
  if (schema instanceof z.ZodDiscriminatedUnion) return openVariants(schema, mode)
  if (schema instanceof z.ZodUnion) {
    const options = schema.options.map(inner)
    // strict options first, because the open ones overlap
    return z.union([...schema.options, ...options] as z.ZodType[])
  }
  if (schema instanceof z.ZodRecord) {
    const keyType = schema.def.keyType instanceof z.ZodEnum ? openEnum() : schema.def.keyType
    return schema.clone({ ...schema.def, keyType, valueType: inner(schema.def.valueType) })
  }
  if (schema instanceof z.ZodNullable) return schema.clone({ ...schema.def, innerType: inner(schema.def.innerType) })
  if (schema instanceof z.ZodOptional) return schema.clone({ ...schema.def, innerType: inner(schema.def.innerType) })
  if (schema instanceof z.ZodDefault) return schema.clone({ ...schema.def, innerType: inner(schema.def.innerType) })
  if (schema instanceof z.ZodReadonly) return schema.clone({ ...schema.def, innerType: inner(schema.def.innerType) })
  if (schema instanceof z.ZodLazy) return z.lazy(() => inner(schema.def.getter()))
  return schema as z.ZodType
}

/** Opens strings and version numbers. Booleans stay strict. */
function openLiteral(schema: z.ZodLiteral): z.ZodType {
  const values = [...schema.values]
  if (values.every((it) => typeof it === 'string')) return openEnum()
  return values.every((it) => typeof it === 'number') ? z.number() : schema
}

/** Requires the discriminator. A variant with an unknown discriminator is passed through. */
function openVariants(union: z.ZodDiscriminatedUnion, mode: Mode): z.ZodType {
  const { discriminator } = union.def
  const variants = union.options.map((option) => {
    if (!(option instanceof z.ZodObject)) return option as z.ZodType
    const opened = open(option, mode)
    if (!(opened instanceof z.ZodObject)) return opened
    return opened.clone({ ...opened.def, shape: { ...opened.shape, [discriminator]: option.shape[discriminator] } })
  })
  const unknownVariant = z
    .looseObject({ [discriminator]: openEnum() })
    .refine((value) => !hasVariant(union, value[discriminator]))
  return z.union([union.clone({ ...union.def, options: variants }), unknownVariant])
}

function hasVariant(union: z.ZodDiscriminatedUnion, word: unknown): boolean {
  return union.options.some((option) => {
    const values = option._zod.propValues?.[union.def.discriminator]
    return values?.has(word as z.core.util.Primitive) ?? false
  })
}

function isObject(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodObject || schema instanceof z.ZodDiscriminatedUnion
}

class Unreadable {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

function omitUnreadable(value: unknown, unreadableItems: { path: string; unreadable: UnreadableEntry[] }): unknown {
  const { path, unreadable } = unreadableItems
  if (Array.isArray(value)) {
    return value.flatMap((entry, index) => {
      const itemPath = `${path}[${index}]`
      if (!(entry instanceof Unreadable)) return [omitUnreadable(entry, { path: itemPath, unreadable })]
      unreadable.push({ path: itemPath, value: entry.value })
      return []
    })
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => {
      const fieldPath = path === '' ? name : `${path}.${name}`
      return [name, omitUnreadable(part, { path: fieldPath, unreadable })]
    }),
  )
}
