import { createHash } from 'node:crypto'
import type { InnerEvent, InnerRequest, Turn } from './innerForm.ts'

/** What every family takes for the name of a function. */
const taken = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/**
 * Names of tools that a provider would refuse get others on their way to it, and their own on the way back.
 * @returns the very request where all names are fine
 */
export function fittedNames(request: InnerRequest): {
  request: InnerRequest
  restored: (event: InnerEvent) => InnerEvent
} {
  const fitted = new Map<string, string>()
  const names = [...request.tools.map((tool) => tool.name), ...request.turns.flatMap(namesOf)]
  for (const name of names) if (!taken.test(name) && name !== '') fitted.set(name, shortened(name))
  if (fitted.size === 0) return { request, restored: (event) => event }
  const own = new Map([...fitted].map(([name, other]) => [other, name]))
  const named = (name: string) => fitted.get(name) ?? name
  const { toolChoice } = request
  return {
    request: {
      ...request,
      tools: request.tools.map((tool) => ({ ...tool, name: named(tool.name) })),
      toolChoice: toolChoice?.type === 'tool' ? { type: 'tool', name: named(toolChoice.name) } : toolChoice,
      turns: request.turns.map((turn) => renamed(turn, named)),
    },
    restored: (event) => (event.type === 'call' ? { ...event, name: own.get(event.name) ?? event.name } : event),
  }
}

function shortened(name: string): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?=[^A-Za-z_])/, '_')
  return `${plain.slice(0, 55)}_${digest}`
}

function namesOf(turn: Turn): string[] {
  return turn.parts.flatMap((part) => (part.type === 'call' || part.type === 'result' ? [part.name] : []))
}

function renamed(turn: Turn, named: (name: string) => string): Turn {
  if (turn.role === 'system') return turn
  const parts = turn.parts.map((part) =>
    part.type === 'call' || part.type === 'result' ? { ...part, name: named(part.name) } : part,
  )
  return { ...turn, parts } as Turn // the parts are of the same types as before
}
