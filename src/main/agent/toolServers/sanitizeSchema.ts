import { toolServerLimits } from '#shared/contract/toolServers.ts'
import { sanitizeBlock } from '#shared/untrustedText.ts'

export type SanitizedSchema = { [key: string]: unknown }
export class UnusableSchema extends Error {}

const maxDepth = 12
const maxNodes = 600
const maxEnum = 100
const maxText = 500
/** Parameter names that all providers accept. */
const parameterName = /^[A-Za-z0-9_.-]{1,64}$/
const numbers = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const
const counts = ['minLength', 'maxLength', 'minItems', 'maxItems'] as const
const alternatives = ['anyOf', 'oneOf', 'allOf'] as const

/**
 * Rebuilds the schema of a tool's arguments from the few keywords that models use. Resolves internal references and
 * rejects external ones. Drops patterns, because untrusted regular expressions are not evaluated.
 * @throws UnusableSchema
 */
export function sanitizeSchema(schema: unknown): SanitizedSchema {
  const root = toSchemaObject(schema)
  if (root?.type !== 'object') throw new UnusableSchema('Its input schema does not describe an object.')
  let nodes = 0

  const sanitize = (input: unknown, depth: number, followed: readonly string[]): SanitizedSchema => {
    if (++nodes > maxNodes) throw new UnusableSchema('Its input schema is too large.')
    if (depth > maxDepth) throw new UnusableSchema('Its input schema is nested too deeply.')
    const node = toSchemaObject(input)
    if (!node) return {}
    if (typeof node.$ref === 'string') {
      if (followed.includes(node.$ref)) return {} // recursive reference: accepts any value
      return sanitize(findTarget(root, node.$ref), depth + 1, [...followed, node.$ref])
    }
    const next = (value: unknown): SanitizedSchema => sanitize(value, depth + 1, followed)
    const keywords: [string, unknown][] = []
    if (typeof node.type === 'string' || isNames(node.type)) keywords.push(['type', node.type])
    if (typeof node.description === 'string') keywords.push(['description', sanitizeBlock(node.description, maxText)])
    if (typeof node.format === 'string') keywords.push(['format', sanitizeBlock(node.format, 40)])
    for (const key of numbers) if (isNumber(node[key])) keywords.push([key, node[key]])
    for (const key of counts) if (isNumber(node[key])) keywords.push([key, node[key]])
    if (Array.isArray(node.enum)) keywords.push(['enum', sanitizeValues(node.enum)])
    if (isPlain(node.const)) keywords.push(['const', sanitizeValue(node.const)])
    if (isPlain(node.default)) keywords.push(['default', sanitizeValue(node.default)])
    const properties = toSchemaObject(node.properties)
    if (properties) {
      const entries = Object.entries(properties).map(([name, value]) => [parseName(name), next(value)] as const)
      keywords.push(['properties', Object.fromEntries(entries)])
      if (isNames(node.required)) {
        keywords.push(['required', node.required.filter((it) => Object.hasOwn(properties, it))])
      }
    }
    if (toSchemaObject(node.items)) keywords.push(['items', next(node.items)])
    for (const key of alternatives) {
      const options = node[key]
      if (Array.isArray(options)) keywords.push([key, options.map(next)])
    }
    if (typeof node.additionalProperties === 'boolean') {
      keywords.push(['additionalProperties', node.additionalProperties])
    } else if (toSchemaObject(node.additionalProperties)) {
      keywords.push(['additionalProperties', next(node.additionalProperties)])
    }
    return Object.fromEntries(keywords)
  }

  const sanitized = sanitize(root, 0, [])
  const whole = 'properties' in sanitized ? sanitized : { ...sanitized, properties: {} }
  if (JSON.stringify(whole).length > toolServerLimits.schemaCharacters) {
    throw new UnusableSchema('Its input schema is too large.')
  }
  return whole
}

function findTarget(root: SanitizedSchema, reference: string): unknown {
  const [, ...steps] = reference.split('/')
  if (!reference.startsWith('#/') || steps.length > maxDepth) {
    throw new UnusableSchema('Its input schema has an external reference.')
  }
  let resolved: unknown = root
  for (const step of steps) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    const node = toSchemaObject(resolved)
    resolved = node && Object.hasOwn(node, name) ? node[name] : undefined
  }
  if (resolved === undefined) throw new UnusableSchema('Its input schema has a reference that does not resolve.')
  return resolved
}

function parseName(name: string): string {
  if (parameterName.test(name) && name !== '__proto__') return name
  throw new UnusableSchema(`Models do not accept the parameter name ${JSON.stringify(sanitizeBlock(name, 40))}.`)
}

function sanitizeValues(values: readonly unknown[]): unknown[] {
  if (values.length > maxEnum) throw new UnusableSchema(`A parameter has more than ${maxEnum} choices.`)
  return values.filter(isPlain).map(sanitizeValue)
}

function sanitizeValue(value: unknown): unknown {
  return typeof value === 'string' ? sanitizeBlock(value, maxText) : value
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || isNumber(value)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((candidate) => typeof candidate === 'string' && candidate.length <= 64)
}

function toSchemaObject(value: unknown): SanitizedSchema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as SanitizedSchema) : undefined
}
