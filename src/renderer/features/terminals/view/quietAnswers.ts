import type { IDisposable, IParser, Terminal } from '@xterm/xterm'

/**
 * Suppresses answers of a viewer to terminal queries. The host's screen answers each once; viewers would answer again,
 * and drawing a snapshot would answer old queries.
 */
export function muteAnswers(parser: IParser): IDisposable {
  const asked = () => true // handled: the terminal's own handler, which would answer, is not reached
  const handlers = [
    parser.registerCsiHandler({ final: 'c' }, asked),
    parser.registerCsiHandler({ prefix: '>', final: 'c' }, asked),
    parser.registerCsiHandler({ prefix: '=', final: 'c' }, asked),
    parser.registerCsiHandler({ final: 'n' }, asked),
    parser.registerCsiHandler({ prefix: '?', final: 'n' }, asked),
    parser.registerCsiHandler({ prefix: '>', final: 'q' }, asked),
    parser.registerCsiHandler({ intermediates: '$', final: 'p' }, asked),
    parser.registerCsiHandler({ prefix: '?', intermediates: '$', final: 'p' }, asked),
    parser.registerDcsHandler({ intermediates: '$', final: 'q' }, asked),
    // The same sequences set colors, which must reach the terminal.
    ...[4, 10, 11, 12].map((color) => parser.registerOscHandler(color, (data) => data.split(';').includes('?'))),
  ]
  return { dispose: () => handlers.forEach((handler) => void handler.dispose()) }
}

/**
 * Gives what the person typed, pointed at or focused. Turning on focus reports (`CSI ? 1004 h`) makes the terminal
 * report at once from within its parser: that is an answer too, and is left out.
 */
export function onPersonsInput(
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
    // Old mouse reports are bytes; those beyond ASCII cannot travel as text and say nothing a program could use.
    terminal.onBinary((bytes) => void (isAscii(bytes) && listener(bytes))),
  ]
  return { dispose: () => parts.forEach((part) => void part.dispose()) }
}

function isAscii(bytes: string): boolean {
  for (let index = 0; index < bytes.length; index += 1) if (bytes.charCodeAt(index) > 0x7f) return false
  return true
}
