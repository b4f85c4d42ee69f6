export type LinkHint = { address: string; x: number; y: number }

export type TerminalLinks = {
  activate(event: MouseEvent, address: string): void
  hover(event: MouseEvent, address: string): void
  leave(): void
}

/** For addresses in the output and for those a program names (OSC 8), whose text may say something else. */
export function terminalLinks(onHint: (hint: LinkHint | undefined) => void): TerminalLinks {
  return {
    activate(event, address) {
      if (!(event.ctrlKey || event.metaKey) || !isWebAddress(address)) return
      onHint(undefined)
      window.open(address, '_blank', 'noopener,noreferrer')
    },
    hover: ({ clientX, clientY }, address) => onHint({ address, x: clientX, y: clientY }),
    leave: () => onHint(undefined),
  }
}

/** A program in a sandbox must not be able to offer `javascript:` or `file:`. */
export function isWebAddress(address: string): boolean {
  return URL.canParse(address) && ['http:', 'https:'].includes(new URL(address).protocol)
}
