import type { Route } from '#shared/contract/route.ts'
import { createTerminal } from '#shared/contract/terminals.ts'

/** Call of any route of the service, with the route first. */
type ServiceCall = (...parameters: never[]) => Promise<unknown>

/** Terminals that carry messages of tool servers and programs instead of what a person sees. They are not recorded. */
export type UnrecordedTerminals = {
  /** Returns the same call, whose terminals are not recorded. */
  wrapCall<Call extends ServiceCall>(call: Call): Call
  /** Resolves when no such terminal is being opened: an event about it may come before its id is known here. */
  waitUntilOpened(): Promise<void> | undefined
  has(terminalId: string): boolean
}

/** Stored ids. A recording that began with an older one is deleted by age like the others. */
const maxTerminals = 10_000

export function createUnrecordedTerminals(): UnrecordedTerminals {
  const ids = new Set<string>()
  const opening = new Set<Promise<unknown>>()
  const add = (id: string): void => {
    ids.add(id)
    const [oldest] = ids
    if (ids.size > maxTerminals && oldest !== undefined) ids.delete(oldest)
  }
  return {
    wrapCall<Call extends ServiceCall>(call: Call): Call {
      const forward = call as unknown as (...parameters: unknown[]) => Promise<unknown> // arguments pass unchanged
      const callUnrecorded = async (route: Route, ...rest: unknown[]): Promise<unknown> => {
        const answer = forward(route, ...rest)
        if (route.operation !== createTerminal.operation) return answer
        const opened = answer.then(
          (terminal) => add((terminal as { session_id: string }).session_id), // by the route's schema
          () => {}, // nothing was opened, and the caller is told
        )
        opening.add(opened)
        await opened
        opening.delete(opened)
        return answer
      }
      return callUnrecorded as unknown as Call // passes arguments and result unchanged
    },
    waitUntilOpened: () => (opening.size === 0 ? undefined : Promise.all(opening).then(() => {})),
    has: (terminalId) => ids.has(terminalId),
  }
}
