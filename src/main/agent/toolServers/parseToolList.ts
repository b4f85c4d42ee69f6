import { createHash } from 'node:crypto'
import { z } from 'zod'
import { ExternalTool, serverNameSeparator, toolServerLimits } from '#shared/contract/toolServers.ts'
import { sanitizeBlock } from '#shared/untrustedText.ts'
import { sanitizeSchema, UnusableSchema } from './sanitizeSchema.ts'

/** Sanitized tool as listed by its server. */
export const ListedTool = ExternalTool.pick({
  name: true,
  alias: true,
  title: true,
  description: true,
  input_schema: true,
  digest: true,
  hints: true,
  fault: true,
})
export type ListedTool = z.infer<typeof ListedTool>

const Raw = z.looseObject({
  name: z.string().min(1).max(1_000),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.unknown(),
  annotations: z.looseObject({}).optional().catch(undefined),
})
type Raw = z.infer<typeof Raw>

/** Maximum length of a tool name that all providers accept. */
const maxAlias = 64
const usableName = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/
const maxDepth = 64

/**
 * Parses a server's tools in order. Unusable tools have a reason. A tool with the name of an earlier one is unusable.
 */
export function parseToolList(server: string, raw: readonly unknown[]): ListedTool[] {
  const names = new Set<string>()
  const aliases = new Set<string>()
  const tools: ListedTool[] = []
  for (const item of raw.slice(0, toolServerLimits.tools)) {
    const tool = Raw.safeParse(item).data
    if (!tool || names.has(tool.name)) continue
    names.add(tool.name)
    const listed = parseTool(server, tool)
    const twice = listed.alias !== null && aliases.has(listed.alias)
    if (listed.alias !== null) aliases.add(listed.alias)
    tools.push(
      twice ? { ...listed, alias: null, fault: 'Another tool of this server has nearly the same name.' } : listed,
    )
  }
  return tools
}

function parseTool(server: string, raw: Raw): ListedTool {
  const { name, title, description = '', annotations = {} } = raw
  const alias = `${server}${serverNameSeparator}${name.replaceAll('.', '_')}`
  const fields = {
    name: sanitizeName(name),
    alias: null,
    title: title === undefined ? null : sanitizeBlock(title, 100).replace(/\s+/g, ' '),
    description: sanitizeBlock(description, toolServerLimits.descriptionCharacters).trim(),
    input_schema: {},
    digest: '',
    hints: readHints(annotations),
  }
  try {
    const digest = hashTool(raw)
    if (!usableName.test(name)) {
      return {
        ...fields,
        digest,
        fault:
          'Its name must start with a letter or digit and contain only letters, digits, dots, hyphens and underscores.',
      }
    }
    if (alias.length > maxAlias) return { ...fields, digest, fault: 'Its name is too long.' }
    return { ...fields, digest, alias, input_schema: sanitizeSchema(raw.inputSchema), fault: null }
  } catch (error) {
    const fault = error instanceof UnusableSchema ? error.message : 'Its definition cannot be read.'
    return { ...fields, digest: digestShort(`${name} ${description.length}`), fault }
  }
}

/** Removes invisible characters from a name. A changed name is marked, so that it cannot equal another tool's name. */
function sanitizeName(name: string): string {
  const cleaned = sanitizeBlock(name, 100).replace(/\s+/g, ' ')
  return cleaned === name ? name : `${cleaned} (hidden characters)`
}

/**
 * Hashes the server's complete description of a tool, including fields that are not displayed.
 * @throws UnusableSchema
 */
function hashTool({ name, title, description, inputSchema, annotations }: Raw): string {
  return digestShort(JSON.stringify(sortKeys([name, title, description, inputSchema, annotations], 0)))
}

function digestShort(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** Sorts keys, because the order of fields is not significant. */
function sortKeys(value: unknown, depth: number): unknown {
  if (depth > maxDepth) throw new UnusableSchema('Its input schema is nested too deeply.')
  if (Array.isArray(value)) return value.map((it) => sortKeys(it, depth + 1))
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => [key, sortKeys(entry, depth + 1)])
}

function readHints(annotations: Record<string, unknown>): ListedTool['hints'] {
  return [
    ...(annotations.readOnlyHint === true ? (['reads'] as const) : []),
    ...(annotations.destructiveHint === true ? (['destroys'] as const) : []),
    ...(annotations.openWorldHint === true ? (['open-world'] as const) : []),
  ]
}
