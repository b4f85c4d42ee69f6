import { useEffect, useState } from 'react'

export type PaneHosts = { of(terminalId: string): HTMLElement }

/**
 * Maintains a stable element per terminal, which is moved between panes, so that a layout change does not remount the
 * terminal.
 */
export function usePaneHosts(terminalIds: readonly string[]): PaneHosts {
  const [hosts] = useState(createPaneHosts)
  // Removing the element also removes the listeners that xterm.js and the page attached to it.
  useEffect(() => hosts.keep(terminalIds), [hosts, terminalIds])
  return hosts
}

function createPaneHosts() {
  const hosts = new Map<string, HTMLElement>()
  return {
    of(terminalId: string) {
      const host = hosts.get(terminalId)
      if (host) return host
      const created = document.createElement('div')
      created.className = 'size-full'
      hosts.set(terminalId, created)
      return created
    },
    keep(terminalIds: readonly string[]) {
      for (const id of [...hosts.keys()]) if (!terminalIds.includes(id)) hosts.delete(id)
    },
  }
}
