import { parseJson } from '#platform/parsing/boundedJson.ts'

/** JSON from an external source. Any field may be missing or have another type. */
export type JsonObject = { readonly [name: string]: unknown }

export function toJsonObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

/** Returns a field as an object, or an empty object for any other type. */
export function getObject(value: unknown, name: string): JsonObject {
  return toJsonObject(toJsonObject(value)?.[name]) ?? {}
}

export function getList(value: unknown, name: string): readonly unknown[] {
  const list = toJsonObject(value)?.[name]
  return Array.isArray(list) ? list : []
}

export function getString(value: unknown, name: string): string | undefined {
  const text = toJsonObject(value)?.[name]
  return typeof text === 'string' ? text : undefined
}

export function getNumber(value: unknown, name: string): number | undefined {
  const number = toJsonObject(value)?.[name]
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** Reads a token count: a non-negative integer, capped so that sums stay exact. */
export function getCount(value: unknown, name: string): number | undefined {
  const number = toJsonObject(value)?.[name]
  if (typeof number !== 'number' || !(number >= 0)) return undefined
  return Math.min(Math.ceil(number), Number.MAX_SAFE_INTEGER)
}

/** @returns undefined if the text is not a JSON object */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    return toJsonObject(parseJson(text))
  } catch {
    return undefined
  }
}

/**
 * Drops undefined fields, which JSON cannot represent. Creates a copy, because V8 turns objects with deleted fields
 * into dictionaries.
 */
export function omitUndefined<T extends Record<string, unknown>>(
  fields: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const result: Record<string, unknown> = {}
  for (const name in fields) if (fields[name] !== undefined) result[name] = fields[name]
  return result as { [K in keyof T]: Exclude<T[K], undefined> } // guaranteed by the loop
}
