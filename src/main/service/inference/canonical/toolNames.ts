import { createHash } from 'node:crypto'
import type { CanonicalEvent, CanonicalRequest, Turn } from './canonical.ts'

/** Function names that every family accepts. */
const validName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/**
 * Renames tools whose names the provider would reject, and restores the original names in the response.
 * @returns the same request object if all names are valid
 */
export function sanitizeToolNames(request: CanonicalRequest): {
  request: CanonicalRequest
  restore: (event: CanonicalEvent) => CanonicalEvent
} {
  const fitted = new Map<string, string>()
  const names = [...request.tools.map((tool) => tool.name), ...request.turns.flatMap(listNames)]
  for (const name of names) if (!validName.test(name) && name !== '') fitted.set(name, shortenName(name))
  if (fitted.size === 0) return { request, restore: (event) => event }
  const originalNames = new Map([...fitted].map(([name, sanitized]) => [sanitized, name]))
  const toSanitized = (name: string) => fitted.get(name) ?? name
  const { toolChoice } = request
  return {
    request: {
      ...request,
      tools: request.tools.map((tool) => ({ ...tool, name: toSanitized(tool.name) })),
      toolChoice: toolChoice?.type === 'tool' ? { type: 'tool', name: toSanitized(toolChoice.name) } : toolChoice,
      turns: request.turns.map((turn) => renameTurn(turn, toSanitized)),
    },
    restore: (event) =>
      event.type === 'call' ? { ...event, name: originalNames.get(event.name) ?? event.name } : event,
  }
}

function shortenName(name: string): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?=[^A-Za-z_])/, '_')
  return `${plain.slice(0, 55)}_${digest}`
}

function listNames(turn: Turn): string[] {
  return turn.parts.flatMap((part) => (part.type === 'call' || part.type === 'result' ? [part.name] : []))
}

function renameTurn(turn: Turn, named: (name: string) => string): Turn {
  if (turn.role === 'system') return turn
  const parts = turn.parts.map((part) =>
    part.type === 'call' || part.type === 'result' ? { ...part, name: named(part.name) } : part,
  )
  return { ...turn, parts } as Turn // the parts have the same types as before
}
