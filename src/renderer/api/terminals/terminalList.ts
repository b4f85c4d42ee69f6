import type { Terminal } from '#shared/contract/terminals.ts'
import type { TerminalId } from '#shared/ids.ts'

export type TerminalList = readonly Terminal[]

/** Sorts terminals oldest first, so that tabs do not move and new ones are appended. */
export function sortTerminals(terminals: readonly Terminal[]): TerminalList {
  return [...terminals].sort(
    (a, b) => a.created_at.localeCompare(b.created_at) || a.session_id.localeCompare(b.session_id),
  )
}

export function withTerminal(list: TerminalList, terminal: Terminal): TerminalList {
  return sortTerminals([...list.filter(({ session_id }) => session_id !== terminal.session_id), terminal])
}

/**
 * Adds a terminal from a response. Ignored if the terminal is already listed, because the response may be older than
 * its event.
 */
export function withNewTerminal(list: TerminalList, terminal: Terminal): TerminalList {
  return list.some(({ session_id }) => session_id === terminal.session_id) ? list : withTerminal(list, terminal)
}

export function removeTerminal(list: TerminalList, id: TerminalId): TerminalList {
  return list.filter(({ session_id }) => session_id !== id)
}

export function withTitle(list: TerminalList, id: TerminalId, title: string | null): TerminalList {
  const present = list.find(({ session_id }) => session_id === id)
  return present === undefined || present.title === title ? list : withTerminal(list, { ...present, title })
}

export function withName(list: TerminalList, id: TerminalId, name: string | null): TerminalList {
  const present = list.find(({ session_id }) => session_id === id)
  return present === undefined || present.name === name ? list : withTerminal(list, { ...present, name })
}
