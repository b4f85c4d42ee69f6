import type { IParser } from '@xterm/xterm'
import { z } from 'zod'
import { persistValue } from '#renderer/storage/persistValue.ts'
import { windowStore } from '#renderer/storage/textStore.ts'
import { createObservable, type Observable } from './observable.ts'
import type { TerminalPreferences } from './preferences/terminalPreferences.ts'

const ClipboardAnswer = z.enum(['allow', 'refuse'])
export type ClipboardAnswer = z.infer<typeof ClipboardAnswer>

/** Requests of a terminal's programs to set the clipboard (OSC 52). */
export type ClipboardRequests = {
  /** Text for which the user's permission is requested. */
  readonly pendingRequest: Observable<string | undefined>
  /** Answers the request, and applies the answer to later requests of this terminal. */
  answer(answer: ClipboardAnswer): void
}

type ClipboardRequestsOptions = {
  parser: IParser
  policy: () => TerminalPreferences['programClipboard']
  /** User's answer for this terminal, stored beyond its view. */
  remembered: { read(): ClipboardAnswer | undefined; write(answer: ClipboardAnswer): void }
  /** @returns false if the browser denied access */
  write: (text: string) => Promise<boolean>
}

/** Maximum length in UTF-16 code units. Longer texts are unlikely to have been copied by the user. */
const maxUnits = 1024 * 1024

/** Handles requests of programs to set the clipboard. Programs can never read it. */
export function handleClipboardRequests({
  parser,
  policy,
  remembered,
  write,
}: ClipboardRequestsOptions): ClipboardRequests {
  const asked = createObservable<string | undefined>(undefined)

  async function put(text: string): Promise<void> {
    // The browser denies access while the page is in the background. The request then remains pending for the user.
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
    pendingRequest: asked,
    answer(answer) {
      const text = asked.now
      remembered.write(answer)
      asked.set(undefined)
      if (answer === 'allow' && text !== undefined) void put(text)
    },
  }
}

/** Decodes the payload `c;<base64>`. A query (`c;?`) for the clipboard's content is not answered. */
export function decodeText(data: string): string | undefined {
  const [, encoded = ''] = /^[cpqs0-7]*;([A-Za-z0-9+/=]+)$/.exec(data) ?? []
  if (encoded === '' || encoded.length > maxUnits) return undefined
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined // invalid base64 or UTF-8
  }
}

/** Stores the answer for the lifetime of the window, so that the user is not asked again after a reattach. */
export function createAnswerStore(terminalId: string): ClipboardRequestsOptions['remembered'] {
  return persistValue(`steward.terminal.clipboard.${terminalId}`, ClipboardAnswer.optional(), undefined, {
    stores: [windowStore],
  })
}
