import { type Effort, efforts } from '#shared/modelFields.ts'
import type { Sampling } from '../canonical/canonical.ts'
import { createBadRequestError } from '../inferenceError.ts'
import { type JsonObject, toJsonObject } from '../json.ts'

/** Reads a field of a request. Errors name the field. `null` counts as missing, as it does for providers. */

export function readTextField(body: JsonObject, name: string, param = name): string | undefined {
  const value = body[name] ?? undefined
  if (value !== undefined && typeof value !== 'string')
    throw createBadRequestError(param, `\`${param}\` must be a string.`)
  return value
}

export function requireText(body: JsonObject, name: string, param = name): string {
  const value = readTextField(body, name, param)
  if (value === undefined || value === '')
    throw createBadRequestError(param, `\`${param}\` is required.`, 'missing_required_parameter')
  return value
}

export function readFlag(body: JsonObject, name: string): boolean | undefined {
  const value = body[name] ?? undefined
  if (value !== undefined && typeof value !== 'boolean')
    throw createBadRequestError(name, `\`${name}\` must be true or false.`)
  return value
}

export function readNumberField(
  body: JsonObject,
  name: string,
  range: { min: number; max: number },
): number | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value) || value < range.min || value > range.max) {
    throw createBadRequestError(name, `\`${name}\` must be a number from ${range.min} to ${range.max}.`)
  }
  return value
}

export function readInteger(body: JsonObject, name: string, min: number): number | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min) {
    throw createBadRequestError(name, `\`${name}\` must be a whole number from ${min}.`)
  }
  return value
}

export function listField(body: JsonObject, name: string, param = name): readonly unknown[] | undefined {
  const value = body[name] ?? undefined
  if (value !== undefined && !Array.isArray(value)) throw createBadRequestError(param, `\`${param}\` must be a list.`)
  return value
}

export function readObject(body: JsonObject, name: string, param = name): JsonObject | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  return requireObject(value, param)
}

export function requireObject(value: unknown, param: string): JsonObject {
  const object = toJsonObject(value)
  if (!object) throw createBadRequestError(param, `\`${param}\` must be an object.`)
  return object
}

export function requireMessages(body: JsonObject, name: string): readonly unknown[] {
  const list = listField(body, name)
  if (list === undefined) throw createBadRequestError(name, `\`${name}\` is required.`, 'missing_required_parameter')
  if (list.length === 0) throw createBadRequestError(name, `\`${name}\` must not be empty.`, 'empty_array')
  return list
}

export function stopField(body: JsonObject, name: string): readonly string[] {
  const value = body[name] ?? []
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list) || list.some((it) => typeof it !== 'string')) {
    throw createBadRequestError(name, `\`${name}\` must be a string or a list of strings.`)
  }
  return list
}

export function readEffort(body: JsonObject, name: string, param = name): Effort | undefined {
  const value = readTextField(body, name, param)
  if (value === undefined) return undefined
  const effort = efforts.find((it) => it === value)
  if (!effort) throw createBadRequestError(param, `\`${param}\` must be one of ${efforts.join(', ')}.`)
  return effort
}

export function readVerbosity(body: JsonObject, name: string, param = name): 'low' | 'medium' | 'high' | undefined {
  const value = readTextField(body, name, param)
  if (value === undefined || value === 'low' || value === 'medium' || value === 'high') return value
  throw createBadRequestError(param, `\`${param}\` must be low, medium or high.`)
}

/** Drops fields that are not set. */
export function readSampling(fields: { [K in keyof Sampling]?: Sampling[K] | undefined }): Sampling {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Returns the top-level fields without an equivalent in another dialect. */
export function warnUntranslated(body: JsonObject, translated: readonly string[]): string[] {
  return Object.keys(body)
    .filter((name) => !translated.includes(name) && body[name] !== null && body[name] !== undefined)
    .map((name) => `${name} ignored: not supported by this provider`)
}
