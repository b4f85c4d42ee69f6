import { useState } from 'react'

export type PaneHosts = { of(terminalId: string): HTMLElement; keep(terminalIds: readonly string[]): void }

/**
 * An element for each terminal that it keeps for its lifetime: it is moved from pane to pane, so that nothing in it
 * starts anew when the layout changes.
 */
export function usePaneHosts(): PaneHosts {
  const [hosts] = useState(paneHosts)
  return hosts
}

function paneHosts(): PaneHosts {
  const hosts = new Map<string, HTMLElement>()
  return {
    of(terminalId) {
      const known = hosts.get(terminalId)
      if (known) return known
      const made = document.createElement('div')
      made.className = 'size-full'
      hosts.set(terminalId, made)
      return made
    },
    keep(terminalIds) {
      for (const id of [...hosts.keys()]) if (!terminalIds.includes(id)) hosts.delete(id)
    },
  }
}
