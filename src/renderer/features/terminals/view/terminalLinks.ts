export type LinkHint = { address: string; x: number; y: number }

export type TerminalLinks = {
  activate(event: MouseEvent, address: string): void
  hover(event: MouseEvent, address: string): void
  leave(): void
  allowNonHttpProtocols: true
}

/** For addresses in the output and for those a program names (OSC 8), whose text may say something else. */
export function terminalLinks(onHint: (hint: LinkHint | undefined) => void): TerminalLinks {
  return {
    activate(event, address) {
      if (!(event.ctrlKey || event.metaKey)) return
      onHint(undefined)
      openLink(address)
    },
    hover: ({ clientX, clientY }, address) => onHint({ address, x: clientX, y: clientY }),
    leave: () => onHint(undefined),
    // Else nothing would be said about the others: what may be opened `linkTarget` decides.
    allowNonHttpProtocols: true,
  }
}

export function openLink(address: string): void {
  const target = linkTarget(address)
  if (target === undefined) return
  const link = document.createElement('a')
  Object.assign(link, { href: target, target: '_blank', rel: 'noopener noreferrer' })
  link.click()
}

/**
 * Where a link leads, as the browser will write it: other alphabets that look like Latin and control characters show. A
 * program in a sandbox must not be able to offer `javascript:` or `file:`, which lead nowhere.
 */
export function linkTarget(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, href } = new URL(address)
  return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined
}
