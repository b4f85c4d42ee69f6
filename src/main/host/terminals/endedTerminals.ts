import type { SandboxId, TerminalId } from '#shared/ids.ts'
import type { TerminalSession } from './session/terminalSession.ts'

export type EndedLimits = { perSandbox: number; bytes: number }

/** Retention of ended terminals, limited by time and space. */
export type EndedTerminals = {
  /** Schedules the removal of an ended terminal, and removes those above the limits. */
  add(terminal: { id: TerminalId; sandboxId: SandboxId; exitedAtMs: number }): void
  forget(id: TerminalId): void
  close(): void
}

type EndedOptions = {
  listSessions: () => TerminalSession[]
  remove: (id: TerminalId) => void
  readableMs: number
  /** Limits above which the terminal that ended first is removed. */
  max: EndedLimits
  now: () => number
}

export function createEndedTerminals(options: EndedOptions): EndedTerminals {
  const { listSessions, remove, readableMs, max, now } = options
  const expiries = new Map<TerminalId, NodeJS.Timeout>()
  return {
    add({ id, sandboxId, exitedAtMs }) {
      if (!expiries.has(id)) {
        const delayMs = Math.max(0, exitedAtMs + readableMs - now())
        expiries.set(id, setTimeout(() => remove(id), delayMs).unref())
      }
      for (const { record } of selectExtra(listSessions(), sandboxId, max)) remove(record.id)
    },
    forget(id) {
      clearTimeout(expiries.get(id))
      expiries.delete(id)
    },
    close() {
      for (const timer of expiries.values()) clearTimeout(timer)
    },
  }
}

/** Returns the ended terminals that exceed the limit of this sandbox or the total bytes. */
function selectExtra(sessions: TerminalSession[], sandboxId: SandboxId, max: EndedLimits): Set<TerminalSession> {
  const ended = sessions.filter(({ record }) => record.exitedAtMs !== null).sort(compareByEnd)
  const ofOne = ended.filter(({ record }) => record.sandboxId === sandboxId)
  const extra = new Set(ofOne.slice(0, Math.max(0, ofOne.length - max.perSandbox)))
  let bytes = ended.reduce((total, { storedBytes }) => total + storedBytes, 0)
  for (const session of ended) {
    if (bytes > max.bytes) extra.add(session)
    if (extra.has(session)) bytes -= session.storedBytes
  }
  return extra
}

function compareByEnd(a: TerminalSession, b: TerminalSession): number {
  return (a.record.exitedAtMs ?? 0) - (b.record.exitedAtMs ?? 0)
}
