import type { TerminalId } from '../../../shared/ids.ts'

export type NowAndThen = {
  happened(id: TerminalId): void
  /** Nothing more is told about it. */
  forget(id: TerminalId): void
  close(): void
}

type Quiet = { again: boolean; timer: NodeJS.Timeout }

const quietMs = 1_000

/** Tells at once what happens with a terminal, and while it goes on happening once a second. */
export function nowAndThen(tell: (id: TerminalId) => void): NowAndThen {
  const quiet = new Map<TerminalId, Quiet>()

  const over = (id: TerminalId): void => {
    const again = quiet.get(id)?.again
    quiet.delete(id)
    if (again) tellNow(id)
  }

  const tellNow = (id: TerminalId): void => {
    quiet.set(id, { again: false, timer: setTimeout(() => over(id), quietMs).unref() })
    tell(id)
  }

  const forget = (id: TerminalId): void => {
    clearTimeout(quiet.get(id)?.timer)
    quiet.delete(id)
  }

  return {
    happened(id) {
      const held = quiet.get(id)
      if (held) held.again = true
      else tellNow(id)
    },
    forget,
    close() {
      for (const id of [...quiet.keys()]) forget(id)
    },
  }
}
