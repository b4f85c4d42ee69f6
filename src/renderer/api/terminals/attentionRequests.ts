import { createContext, useContext, useEffect, useSyncExternalStore } from 'react'
import { createEmitter } from '#shared/emitter.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'

/** Request for attention from a program in a terminal. `text` is supplied by the program and empty for a bell. */
export type TerminalCall = { sandboxId: SandboxId; terminalId: TerminalId; text: string }

/** Terminals with unseen requests for attention. */
export type AttentionRequests = {
  /** @returns whether the call is new: false if the terminal is in view or already has a call */
  called(call: TerminalCall): boolean
  list(): readonly TerminalCall[]
  subscribe(listener: () => void): () => void
  /** Marks terminals as visible, which dismisses their calls. @returns a function that marks them as hidden */
  show(terminalIds: readonly string[]): () => void
  /** Dismisses the calls of visible terminals. Call it when the window regains focus. */
  looked(): void
  forget(isObsolete: (call: TerminalCall) => boolean): void
}

/**
 * The service reports bells once a second. A bell reported this soon after a terminal was hidden rang while it was
 * visible.
 */
const attentionGracePeriodMs = 1_500

type Options = { isWindowInFront: () => boolean; now?: () => number }

export function createAttentionRequests({
  isWindowInFront,
  now = () => performance.now(),
}: Options): AttentionRequests {
  const changes = createEmitter()
  const visible = new Map<string, number>()
  const leftAtMs = new Map<string, number>()
  let calls: readonly TerminalCall[] = []

  const keep = (remaining: readonly TerminalCall[]): void => {
    if (remaining.length === calls.length) return
    calls = remaining
    changes.emit()
  }
  const forget = (isObsolete: (call: TerminalCall) => boolean): void => keep(calls.filter((call) => !isObsolete(call)))
  const looked = (): void => {
    if (isWindowInFront()) forget(({ terminalId }) => visible.has(terminalId))
  }

  return {
    called(call) {
      const { terminalId, text } = call
      if (visible.has(terminalId) && isWindowInFront()) return false
      if (text === '' && now() - (leftAtMs.get(terminalId) ?? Number.NEGATIVE_INFINITY) < attentionGracePeriodMs)
        return false
      const before = calls.find((it) => it.terminalId === terminalId)
      if (before && (text === '' || text === before.text)) return false
      calls = [...calls.filter((it) => it !== before), call]
      changes.emit()
      return before === undefined
    },
    list: () => calls,
    subscribe: changes.subscribe,
    show(terminalIds) {
      for (const id of terminalIds) visible.set(id, (visible.get(id) ?? 0) + 1)
      looked()
      return () => {
        for (const id of terminalIds) {
          const left = (visible.get(id) ?? 1) - 1
          if (left > 0) visible.set(id, left)
          else visible.delete(id)
          leftAtMs.set(id, now())
        }
      }
    },
    looked,
    forget,
  }
}

export const TerminalCallsContext = createContext<AttentionRequests | undefined>(undefined)

const none: readonly TerminalCall[] = []
const watchNothing = () => () => {}

export function useAttentionRequests(): readonly TerminalCall[] {
  const calls = useContext(TerminalCallsContext)
  return useSyncExternalStore(calls?.subscribe ?? watchNothing, () => calls?.list() ?? none)
}

/** Marks terminals as visible while the component is mounted. */
export function useVisibleTerminals(terminalIds: readonly string[]): void {
  const calls = useContext(TerminalCallsContext)
  const written = terminalIds.join()
  useEffect(() => calls?.show(written === '' ? [] : written.split(',')), [calls, written])
}
