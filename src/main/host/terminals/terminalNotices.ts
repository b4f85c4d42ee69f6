import type { IParser } from '@xterm/headless'
import { sanitizeLine } from '#shared/shownLine.ts'

const maxNotice = 200

/**
 * Messages with which programs ask for their person: OSC 9 (iTerm2), OSC 777 (`notify`, rxvt) and OSC 99 (kitty).
 * The bell is one without words. Whatever is printed can be hostile, so a text is one short line without characters that
 * are not seen.
 */
export function watchTerminalNotices(parser: IParser, onNotice: (text: string) => void): void {
  const readers = { 9: parseITermNotice, 777: parseRxvtNotice, 99: parseKittyNotice }
  for (const [code, textOf] of Object.entries(readers)) {
    parser.registerOscHandler(Number(code), (data) => {
      const text = textOf(data)
      if (text !== undefined) onNotice(sanitizeLine(text, maxNotice))
      return true
    })
  }
}

/** ConEmu gives `9;4;1;50` and other numbered commands another meaning: `4` is the progress of a program. */
function parseITermNotice(data: string): string | undefined {
  return /^\d{1,2}(;|$)/.test(data) ? undefined : data
}

function parseRxvtNotice(data: string): string | undefined {
  const [kind, title = '', ...body] = data.split(';')
  return kind === 'notify' ? [title, body.join(';')].filter((part) => part.trim() !== '').join(': ') : undefined
}

/** `key=value:…;payload`, where `p` says what the payload is and `e=1` that it is base64. */
function parseKittyNotice(data: string): string | undefined {
  const [meta = '', ...rest] = data.split(';')
  const keys = new Map(meta.split(':').map((pair) => [pair.slice(0, 1), pair.slice(2)]))
  const part = keys.get('p') ?? 'title'
  if (part !== 'title' && part !== 'body') return undefined
  const payload = rest.join(';')
  if (payload === '') return undefined
  return keys.get('e') === '1' ? Buffer.from(payload, 'base64').toString() : payload
}
