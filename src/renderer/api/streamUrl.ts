import { terminalStreamPath } from '#shared/contract/terminalStream.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'

export type StreamTarget = { sandboxId: SandboxId; terminalId: TerminalId; scrollback?: number }

/** Returns the WebSocket URL of a terminal stream on the page's origin. */
export function buildTerminalStreamUrl(target: StreamTarget, page: { origin: string } = window.location): string {
  const path = terminalStreamPath
    .replace(':id', encodeURIComponent(target.sandboxId))
    .replace(':sessionId', encodeURIComponent(target.terminalId))
  const query =
    target.scrollback === undefined ? '?marks=true&skip=true' : `?marks=true&skip=true&scrollback=${target.scrollback}`
  return `${getSocketOrigin(page)}${path}${query}`
}

/** Uses `ws:` for `http:` and `wss:` for `https:`. */
export function getSocketOrigin(page: { origin: string }): string {
  return page.origin.replace(/^http/, 'ws')
}
