import { createThrottlePerKey } from '#platform/throttlePerKey.ts'
import type { HostEvent, TerminalRecord } from '#shared/contract/hostIpc.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'
import { createChangeEvents } from './changeEvents.ts'

/** Publishes events of terminals, each kind throttled per terminal. */
export type TerminalEvents = {
  recordChange(record: TerminalRecord): void
  recordOutput(id: TerminalId): void
  recordBell(id: TerminalId): void
  recordNotice(id: TerminalId, text: string): void
  /** Drops what is still to be published. */
  forget(id: TerminalId): void
  close(): void
}

type EventsOptions = {
  /** Returns undefined for a terminal that is not listed: it has no events but changes. */
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
