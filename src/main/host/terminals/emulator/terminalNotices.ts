import type { IParser } from '@xterm/headless'
import { sanitizeLine } from '#shared/untrustedText.ts'

const maxNoticeLength = 200

/**
 * Reports notifications from programs: OSC 9 (iTerm2), OSC 777 (`notify`, rxvt) and OSC 99 (kitty). The bell counts as
 * a notification without text. Output may be hostile, so a text is limited to one short line without invisible
 * characters.
 */
export function watchTerminalNotices(parser: IParser, onNotice: (text: string) => void): void {
  const readers = { 9: parseITermNotice, 777: parseRxvtNotice, 99: parseKittyNotice }
  for (const [code, textOf] of Object.entries(readers)) {
    parser.registerOscHandler(Number(code), (data) => {
      const text = textOf(data)
      if (text !== undefined) onNotice(sanitizeLine(text, maxNoticeLength))
      return true
    })
  }
}

/**
 * Excludes numbered commands such as `9;4;1;50`, which have another meaning in ConEmu: `4` is the progress of a
 * program.
 */
function parseITermNotice(data: string): string | undefined {
  return /^\d{1,2}(;|$)/.test(data) ? undefined : data
}

function parseRxvtNotice(data: string): string | undefined {
  const [kind, title = '', ...body] = data.split(';')
  return kind === 'notify' ? [title, body.join(';')].filter((part) => part.trim() !== '').join(': ') : undefined
}

/** Parses `key=value:…;payload`, where `p` is the type of the payload and `e=1` marks it as base64. */
function parseKittyNotice(data: string): string | undefined {
  const [meta = '', ...rest] = data.split(';')
  const keys = new Map(meta.split(':').map((pair) => [pair.slice(0, 1), pair.slice(2)]))
  const part = keys.get('p') ?? 'title'
  if (part !== 'title' && part !== 'body') return undefined
  const payload = rest.join(';')
  if (payload === '') return undefined
  return keys.get('e') === '1' ? Buffer.from(payload, 'base64').toString() : payload
}
