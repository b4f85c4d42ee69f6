import type { ILink, IViewportRange } from '@xterm/xterm'
import { type LinkTarget, linkTarget, type SandboxPlace } from './linkTarget.ts'

/** `text` is what the output says. Without a target it cannot be opened. */
export type LinkHint = { text: string; target: LinkTarget | undefined; x: number; y: number }

/** The way into the sandbox whose terminal it is. */
export type SandboxLinks = {
  /** @returns undefined if there is no such file; `folder` is the working directory that the shell reported */
  find(path: string, folder: string | undefined): Promise<{ path: string } | undefined>
  open(place: SandboxPlace): void
  /** See `linkTarget`. */
  previewPort(): string | undefined
}

export type TerminalLinks = {
  activate(event: MouseEvent, address: string): void
  hover(event: MouseEvent, address: string): void
  leave(): void
  allowNonHttpProtocols: true
  /** Creates a link with a tooltip that behaves like the others. */
  link(text: string, range: IViewportRange, target: LinkTarget): ILink
}

/**
 * For addresses in the output, and for those a program names (OSC 8), whose text may say something else.
 * @param inside undefined where the page shows nothing of the sandbox but its terminals
 */
export function createTerminalLinks(
  onHint: (hint: LinkHint | undefined) => void,
  inside: SandboxLinks | undefined,
): TerminalLinks {
  const resolveTarget = (address: string) => {
    const target = linkTarget(address, inside?.previewPort())
    return target?.kind === 'address' || inside ? target : undefined
  }
  const open = ({ ctrlKey, metaKey }: MouseEvent, target: LinkTarget | undefined): void => {
    if (!target || !(ctrlKey || metaKey)) return
    onHint(undefined)
    if (target.kind === 'address') openAddress(target.href)
    else inside?.open(target)
  }
  const hint = ({ clientX: x, clientY: y }: MouseEvent, text: string, target: LinkTarget | undefined) =>
    onHint({ text, target, x, y })
  const leave = () => onHint(undefined)
  return {
    activate: (event, address) => open(event, resolveTarget(address)),
    hover: (event, address) => hint(event, address, resolveTarget(address)),
    leave,
    // Else nothing would be said about the others: what may be opened `linkTarget` decides.
    allowNonHttpProtocols: true,
    link: (text, range, target) => ({
      text,
      range,
      activate: (event) => open(event, target),
      hover: (event) => hint(event, text, target),
      leave,
    }),
  }
}

function openAddress(href: string): void {
  const link = document.createElement('a')
  Object.assign(link, { href, target: '_blank', rel: 'noopener noreferrer' })
  link.click()
}
