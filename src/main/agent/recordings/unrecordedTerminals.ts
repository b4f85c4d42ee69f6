import type { Route } from '#shared/contract/route.ts'
import { createTerminal } from '#shared/contract/terminals.ts'

/** Call of any service route, with the route as first parameter. */
type ServiceCall = (...parameters: never[]) => Promise<unknown>

/** Terminals that carry protocol messages of tool servers and programs. They are not recorded. */
export type UnrecordedTerminals = {
  /** Wraps a call so that its terminals are not recorded. */
  wrapCall<Call extends ServiceCall>(call: Call): Call
  /** Resolves when no such terminal is being opened, because its event may arrive before its id is known. */
  waitUntilOpened(): Promise<void> | undefined
  has(terminalId: string): boolean
}

/** Maximum number of stored ids. Recordings of older terminals are deleted by age. */
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
      // arguments are passed unchanged
      const forward = call as unknown as (...parameters: unknown[]) => Promise<unknown>
      const callUnrecorded = async (route: Route, ...rest: unknown[]): Promise<unknown> => {
        const answer = forward(route, ...rest)
        if (route.operation !== createTerminal.operation) return answer
        const opened = answer.then(
          (terminal) => add((terminal as { session_id: string }).session_id), // guaranteed by the route's schema
          () => {}, // no terminal was opened; the caller receives the error
        )
        opening.add(opened)
        await opened
        opening.delete(opened)
        return answer
      }
      return callUnrecorded as unknown as Call // arguments and result are passed unchanged
    },
    waitUntilOpened: () => (opening.size === 0 ? undefined : Promise.all(opening).then(() => {})),
    has: (terminalId) => ids.has(terminalId),
  }
}
