import { type JsonObject, toJsonObject } from '../json.ts'
import { rejectStoredReferences } from './storedReferences.ts'

/**
 * Allow-list of the fields of a request that reach a provider unchanged. All others are removed, so that a field
 * which a provider adds later cannot cost money beyond the hold or access data stored in the provider's account.
 */
export type FieldShape =
  /** String, number or boolean, limited to these values if any are listed. */
  | { kind: 'scalar'; values?: readonly unknown[]; reason?: string }
  /** Arbitrary JSON of the caller, such as a JSON schema. */
  | { kind: 'data' }
  | { kind: 'list'; items: FieldShape }
  | { kind: 'object'; fields: Readonly<Record<string, FieldShape>> }
  /** Object whose fields depend on its type. `noun` is the term for it in warnings. */
  | { kind: 'variant'; noun: string; findShape: (object: JsonObject) => FieldShape | undefined }
  /** First shape with the JSON type of the value. */
  | { kind: 'either'; shapes: readonly FieldShape[] }
  /** Removed, with a warning that states the reason. */
  | { kind: 'never'; reason: string }
  /** Removed without a warning, because it has no effect. */
  | { kind: 'ignored' }

export const scalar: FieldShape = { kind: 'scalar' }
export const data: FieldShape = { kind: 'data' }
export const listShape = (items: FieldShape): FieldShape => ({ kind: 'list', items })
export const objectShape = (fields: Readonly<Record<string, FieldShape>>): FieldShape => ({ kind: 'object', fields })
export const either = (...shapes: readonly FieldShape[]): FieldShape => ({ kind: 'either', shapes })
export const scalars = (...names: readonly string[]): Record<string, FieldShape> =>
  Object.fromEntries(names.map((name) => [name, scalar]))
export const variant = (noun: string, shapeOf: (object: JsonObject) => FieldShape | undefined): FieldShape => ({
  kind: 'variant',
  noun,
  findShape: shapeOf,
})
/** Variant with its shape selected by `type`. */
export const byType = (noun: string, shapes: Readonly<Record<string, FieldShape>>): FieldShape =>
  variant(noun, ({ type }) => (typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined))

const unpriced = 'not in the price list'
/** Removed unless it has one of these values, because other values change the token price. */
export const pricedShape = (...harmless: readonly unknown[]): FieldShape => ({
  kind: 'scalar',
  values: harmless,
  reason: unpriced,
})

/** Billed by the provider in addition to tokens, or at another price. */
export const paidFields: Readonly<Record<string, FieldShape>> = Object.fromEntries(
  ['web_search_options', 'prediction', 'modalities', 'audio', 'mcp_servers', 'moderation', 'fallbacks', 'models'].map(
    (name) => [name, { kind: 'never', reason: unpriced }],
  ),
)

export type FilteredFields = {
  body: JsonObject
  /** Removed fields, for `x-steward-warnings`. */
  removed: string[]
}

/**
 * Copies the fields that the shape allows.
 *
 * @throws InferenceError if a removed field refers to data stored in the provider's account
 */
export function filterFields(body: JsonObject, shape: FieldShape): FilteredFields {
  const removed: string[] = []
  const filtered = filterValue(body, shape, '', removed)
  return { body: toJsonObject(filtered) ?? {}, removed }
}

function filterValue(value: unknown, shape: FieldShape, path: string, removed: string[]): unknown {
  switch (shape.kind) {
    case 'data':
      return value
    case 'ignored':
      return undefined
    case 'scalar': {
      const { values, reason = 'not supported' } = shape
      if (isScalar(value) && (values === undefined || values.includes(value))) return value
      return omitField(value, path, { removed, warning: `${path} ignored: ${reason}` })
    }
    case 'list':
      if (!Array.isArray(value)) break
      return value.flatMap((item: unknown, index) => {
        const filtered = filterValue(item, shape.items, `${path}[${index}]`, removed)
        return filtered === undefined ? [] : [filtered]
      })
    case 'object': {
      const object = toJsonObject(value)
      if (!object) break
      return filterObject(object, shape.fields, path, removed)
    }
    case 'variant': {
      const object = toJsonObject(value)
      if (!object) break
      const matchingShape = shape.findShape(object)
      if (matchingShape) return filterValue(object, matchingShape, path, removed)
      const warning = `${shape.noun} of type ${String(object.type)} ignored`
      return omitField(value, path, { removed, warning })
    }
    case 'either': {
      const matchingShape = shape.shapes.find((it) => matchesKind(it, value))
      if (matchingShape) return filterValue(value, matchingShape, path, removed)
      break
    }
    case 'never':
      return omitField(value, path, { removed, warning: `${path} ignored: ${shape.reason}` })
  }
  return omitField(value, path, { removed, warning: `${path} ignored: not supported` })
}

function filterObject(
  object: JsonObject,
  fields: Readonly<Record<string, FieldShape>>,
  path: string,
  removed: string[],
): JsonObject {
  const allowed: Record<string, unknown> = {}
  for (const name of Object.keys(object)) {
    const value = object[name]
    if (value === undefined) continue
    const fieldPath = path === '' ? name : `${path}.${name}`
    const shape = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (shape === undefined) {
      rejectStoredReferences({ [name]: value }, path)
      if (value !== null) removed.push(`${fieldPath} ignored: not supported`)
      continue
    }
    const filtered = value === null ? null : filterValue(value, shape, fieldPath, removed)
    if (filtered !== undefined) allowed[name] = filtered
  }
  return allowed
}

type Omission = { removed: string[]; warning: string }

function omitField(value: unknown, path: string, { removed, warning }: Omission): undefined {
  rejectStoredReferences(value, path)
  if (value !== null) removed.push(warning)
  return undefined
}

function matchesKind(shape: FieldShape, value: unknown): boolean {
  switch (shape.kind) {
    case 'scalar':
      return isScalar(value)
    case 'list':
      return Array.isArray(value)
    case 'object':
    case 'variant':
      return toJsonObject(value) !== undefined
    case 'either':
      return shape.shapes.some((it) => matchesKind(it, value))
    default:
      return true
  }
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
