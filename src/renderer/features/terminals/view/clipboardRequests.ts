import type { IParser } from '@xterm/xterm'
import { windowStore } from '#renderer/storage/textStore.ts'
import { createObservable, type Observable } from './observable.ts'
import type { TerminalPreferences } from './preferences/terminalPreferences.ts'

export type ClipboardAnswer = 'allow' | 'refuse'

/** Requests of a terminal's programs to set the clipboard (OSC 52). */
export type ClipboardRequests = {
  /** The text that the person is asked about. */
  readonly asked: Observable<string | undefined>
  /** Holds for this terminal from now on. */
  answer(answer: ClipboardAnswer): void
}

type ClipboardRequestsOptions = {
  parser: IParser
  policy: () => TerminalPreferences['programClipboard']
  /** User's answer for this terminal, which outlives its view. */
  remembered: { read(): ClipboardAnswer | undefined; write(answer: ClipboardAnswer): void }
  /** Resolves to false when the browser does not allow it. */
  write: (text: string) => Promise<boolean>
}

/** Longer texts are none that a person copied in a program. */
const maxUnits = 1024 * 1024

/** A program may offer text for the clipboard, and never learns what is on it. */
export function handleClipboardRequests({
  parser,
  policy,
  remembered,
  write,
}: ClipboardRequestsOptions): ClipboardRequests {
  const asked = createObservable<string | undefined>(undefined)

  async function put(text: string): Promise<void> {
    // Out of sight the browser refuses: then it waits for the person.
    asked.set((await write(text)) ? undefined : text)
  }

  parser.registerOscHandler(52, (data) => {
    const text = decodeText(data)
    const answer = policy() === 'ask' ? remembered.read() : policy()
    if (text === undefined || answer === 'refuse') return true
    if (answer === 'allow') void put(text)
    else asked.set(text)
    return true
  })

  return {
    asked,
    answer(answer) {
      const text = asked.now
      remembered.write(answer)
      asked.set(undefined)
      if (answer === 'allow' && text !== undefined) void put(text)
    },
  }
}

/** `c;<base64>`; `c;?` asks for what is on the clipboard, and gets nothing. */
export function decodeText(data: string): string | undefined {
  const [, encoded = ''] = /^[cpqs0-7]*;([A-Za-z0-9+/=]+)$/.exec(data) ?? []
  if (encoded === '' || encoded.length > maxUnits) return undefined
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined // neither base64 nor text
  }
}

/** Stores the answer for the lifetime of the window, so that reattaching does not ask again. */
export function createAnswerStore(terminalId: string): ClipboardRequestsOptions['remembered'] {
  const key = `steward.terminal.clipboard.${terminalId}`
  return {
    read() {
      const stored = windowStore.get(key)
      return stored === 'allow' || stored === 'refuse' ? stored : undefined
    },
    write: (answer) => void windowStore.set(key, answer),
  }
}
