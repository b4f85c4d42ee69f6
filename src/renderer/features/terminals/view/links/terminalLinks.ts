import type { ILink, IViewportRange } from '@xterm/xterm'
import { type LinkTarget, parseLinkTarget, type SandboxPlace } from './parseLinkTarget.ts'

/** `text` is the text in the output. A link without a target cannot be opened. */
export type LinkHint = { text: string; target: LinkTarget | undefined; x: number; y: number }

/** Access to the terminal's sandbox for links. */
export type SandboxLinks = {
  /**
   * @param folder working directory reported by the shell
   * @returns undefined if the file does not exist
   */
  find(path: string, folder: string | undefined): Promise<{ path: string } | undefined>
  open(place: SandboxPlace): void
  /** Port of the service, see `parseLinkTarget`. */
  previewPort(): string | undefined
}

export type TerminalLinks = {
  activate(event: MouseEvent, address: string): void
  hover(event: MouseEvent, address: string): void
  leave(): void
  allowNonHttpProtocols: true
  /** Creates a link with the standard tooltip and behavior. */
  link(text: string, range: IViewportRange, target: LinkTarget): ILink
}

/**
 * Handles URLs in the output and hyperlinks set by programs (OSC 8), whose text may differ from the target.
 * @param inside undefined if the page shows only terminals
 */
export function createTerminalLinks(
  onHint: (hint: LinkHint | undefined) => void,
  inside: SandboxLinks | undefined,
): TerminalLinks {
  const resolveTarget = (address: string) => {
    const target = parseLinkTarget(address, inside?.previewPort())
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
    // Otherwise links with other schemes would have no tooltip. `parseLinkTarget` decides which links can be opened.
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
