import type { TerminalRecord } from '#shared/contract/hostIpc.ts'
import type { TerminalId } from '#shared/ids.ts'

export type ChangeEvents = {
  recordChange(record: TerminalRecord): void
  /** Discards pending events of a terminal. */
  forget(id: TerminalId): void
  close(): void
}

type Recent = { lastSent: TerminalRecord; newest: TerminalRecord; timer: NodeJS.Timeout }

const quietMs = 100

/** Reports starts and exits immediately. Throttles titles and sizes, which may change continuously. */
export function createChangeEvents(tell: (record: TerminalRecord) => void): ChangeEvents {
  const recent = new Map<TerminalId, Recent>()

  const forget = (id: TerminalId): void => {
    clearTimeout(recent.get(id)?.timer)
    recent.delete(id)
  }

  const later = (id: TerminalId): void => {
    const entry = recent.get(id)
    recent.delete(id)
    if (entry && entry.newest !== entry.lastSent) tellNow(entry.newest)
  }

  const tellNow = (record: TerminalRecord): void => {
    forget(record.id)
    recent.set(record.id, {
      lastSent: record,
      newest: record,
      timer: setTimeout(() => later(record.id), quietMs).unref(),
    })
    tell(record)
  }

  return {
    recordChange(record) {
      const entry = recent.get(record.id)
      if (!entry || entry.newest.state !== record.state) tellNow(record)
      else entry.newest = record
    },
    forget,
    close() {
      for (const id of [...recent.keys()]) forget(id)
    },
  }
}
