import { createThrottlePerKey } from '#platform/concurrency/throttlePerKey.ts'
import type { HostEvent, TerminalRecord } from '#shared/contract/hostIpc.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'
import { createChangeEvents } from './changeEvents.ts'

/** Publishes terminal events. Each kind is throttled per terminal. */
export type TerminalEvents = {
  recordChange(record: TerminalRecord): void
  recordOutput(id: TerminalId): void
  recordBell(id: TerminalId): void
  recordNotice(id: TerminalId, text: string): void
  /** Discards pending events of a terminal. */
  forget(id: TerminalId): void
  close(): void
}

type EventsOptions = {
  /** Returns undefined for an unlisted terminal, for which only changes are published. */
  findSandbox: (id: TerminalId) => SandboxId | undefined
  onEvent: (event: HostEvent) => void
}

export function createTerminalEvents({ findSandbox, onEvent }: EventsOptions): TerminalEvents {
  const publishOutput = (bell: boolean) => (terminalId: TerminalId) => {
    const sandboxId = findSandbox(terminalId)
    if (sandboxId) onEvent({ type: 'terminal.output', sandboxId, terminalId, bell })
  }
  const notices = new Map<TerminalId, string>()
  const changes = createChangeEvents((terminal) => onEvent({ type: 'terminal.changed', terminal }))
  const outputs = createThrottlePerKey(publishOutput(false))
  const bells = createThrottlePerKey(publishOutput(true))
  const calls = createThrottlePerKey((terminalId: TerminalId) => {
    const sandboxId = findSandbox(terminalId)
    const text = notices.get(terminalId)
    notices.delete(terminalId)
    if (sandboxId && text !== undefined) onEvent({ type: 'terminal.called', sandboxId, terminalId, text })
  })
  const trackers = [changes, outputs, bells, calls]

  return {
    recordChange: changes.recordChange,
    recordOutput: outputs.mark,
    recordBell: bells.mark,
    recordNotice(id, text) {
      notices.set(id, text)
      calls.mark(id)
    },
    forget(id) {
      for (const tracker of trackers) tracker.forget(id)
      notices.delete(id)
    },
    close() {
      for (const tracker of trackers) tracker.close()
    },
  }
}
