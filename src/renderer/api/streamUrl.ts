import { terminalStreamPath } from '#shared/contract/terminalStream.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'

export type StreamTarget = { sandboxId: SandboxId; terminalId: TerminalId; scrollback?: number }

/** The WebSocket address of a terminal's stream on the page's own origin. */
export function buildTerminalStreamUrl(target: StreamTarget, page: { origin: string } = window.location): string {
  const path = terminalStreamPath
    .replace(':id', encodeURIComponent(target.sandboxId))
    .replace(':sessionId', encodeURIComponent(target.terminalId))
  const query =
    target.scrollback === undefined ? '?marks=true&skip=true' : `?marks=true&skip=true&scrollback=${target.scrollback}`
  return `${getSocketOrigin(page)}${path}${query}`
}

/** `ws:` beside `http:`, `wss:` beside `https:`. */
export function getSocketOrigin(page: { origin: string }): string {
  return page.origin.replace(/^http/, 'ws')
}
