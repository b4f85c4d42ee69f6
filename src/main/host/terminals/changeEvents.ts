import type { TerminalRecord } from '#shared/contract/hostIpc.ts'
import type { TerminalId } from '#shared/ids.ts'

export type ChangeEvents = {
  changed(record: TerminalRecord): void
  /** Stops its events. */
  forget(id: TerminalId): void
  close(): void
}

type Recent = { told: TerminalRecord; newest: TerminalRecord; timer: NodeJS.Timeout }

const quietMs = 100

/** Reports starts and exits at once, and throttles titles and sizes, which may change all the time. */
export function changeEvents(tell: (record: TerminalRecord) => void): ChangeEvents {
  const recent = new Map<TerminalId, Recent>()

  const forget = (id: TerminalId): void => {
    clearTimeout(recent.get(id)?.timer)
    recent.delete(id)
  }

  const later = (id: TerminalId): void => {
    const held = recent.get(id)
    recent.delete(id)
    if (held && held.newest !== held.told) tellNow(held.newest)
  }

  const tellNow = (record: TerminalRecord): void => {
    forget(record.id)
    recent.set(record.id, { told: record, newest: record, timer: setTimeout(() => later(record.id), quietMs).unref() })
    tell(record)
  }

  return {
    changed(record) {
      const held = recent.get(record.id)
      if (!held || held.newest.state !== record.state) tellNow(record)
      else held.newest = record
    },
    forget,
    close() {
      for (const id of [...recent.keys()]) forget(id)
    },
  }
}
