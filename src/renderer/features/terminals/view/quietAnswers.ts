import type { IDisposable, IParser, Terminal } from '@xterm/xterm'

/**
 * Suppresses a viewer's replies to terminal queries. The host's screen replies once to each query. Viewers would reply
 * again, and drawing a snapshot would reply to old queries.
 */
export function suppressReplies(parser: IParser): IDisposable {
  const request = () => true // handled, so the terminal's default handler does not reply
  const handlers = [
    parser.registerCsiHandler({ final: 'c' }, request),
    parser.registerCsiHandler({ prefix: '>', final: 'c' }, request),
    parser.registerCsiHandler({ prefix: '=', final: 'c' }, request),
    parser.registerCsiHandler({ final: 'n' }, request),
    parser.registerCsiHandler({ prefix: '?', final: 'n' }, request),
    parser.registerCsiHandler({ prefix: '>', final: 'q' }, request),
    parser.registerCsiHandler({ intermediates: '$', final: 'p' }, request),
    parser.registerCsiHandler({ prefix: '?', intermediates: '$', final: 'p' }, request),
    parser.registerDcsHandler({ intermediates: '$', final: 'q' }, request),
    // These sequences also set colors, which must reach the terminal.
    ...[4, 10, 11, 12].map((color) => parser.registerOscHandler(color, (data) => data.split(';').includes('?'))),
  ]
  return { dispose: () => handlers.forEach((handler) => void handler.dispose()) }
}

/**
 * Calls `listener` with input that the user typed, or caused by pointer or focus. Excludes the report that the terminal
 * sends synchronously from its parser when a program enables focus reporting (`CSI ? 1004 h`).
 */
export function onUserInput(
  terminal: Pick<Terminal, 'parser' | 'onData' | 'onBinary'>,
  listener: (text: string) => void,
): IDisposable {
  let parsing = false
  const parts = [
    terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, () => {
      parsing = true
      queueMicrotask(() => {
        parsing = false
      })
      return false
    }),
    terminal.onData((text) => void (parsing || listener(text))),
    // Legacy mouse reports are bytes. Those beyond ASCII cannot be sent as text and are of no use to programs.
    terminal.onBinary((bytes) => void (isAscii(bytes) && listener(bytes))),
  ]
  return { dispose: () => parts.forEach((part) => void part.dispose()) }
}

function isAscii(bytes: string): boolean {
  for (let index = 0; index < bytes.length; index += 1) if (bytes.charCodeAt(index) > 0x7f) return false
  return true
}
