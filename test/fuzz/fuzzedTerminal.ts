/** Runs in a page: the window's terminal with a fake service that sends the output of the test. */

import { defaultPreferences } from '#renderer/features/terminals/view/preferences/terminalPreferences.ts'
import { createTerminalSession } from '#renderer/features/terminals/view/terminalSession.ts'
import { stewardDark } from '#renderer/features/terminals/view/themes/stewardThemes.ts'
import { createWebglLeases } from '#renderer/features/terminals/view/webglLeases.ts'
import type { ServerStreamMessage } from '#shared/contract/terminalStream.ts'
import { TerminalId } from '#shared/ids.ts'

export type FuzzedTerminal = {
  /** Resolves when all output is parsed. The argument is raw program output in Base64. */
  output(base64: string): Promise<void>
  /** Redraws everything from a snapshot at another size. */
  attach(size: { cols: number; rows: number }): void
  rows(): string[]
}

const terminalId = TerminalId.parse('pty_000000000000000000000000')

/** Fake WebSocket of the terminal. */
class FuzzedSocket extends EventTarget {
  readonly OPEN = 1
  readonly readyState = 1
  binaryType = 'arraybuffer'
  send(): void {}
  close(): void {}
  say(data: unknown): void {
    this.dispatchEvent(new MessageEvent('message', { data }))
  }
}

export function createFuzzedTerminal(host: HTMLElement): FuzzedTerminal {
  const socket = new FuzzedSocket()
  const session = createTerminalSession({
    terminalId,
    host,
    connect: () => socket as unknown as WebSocket, // has all members that a stream uses
    appearance: { theme: stewardDark, preferences: defaultPreferences, calm: true },
    webgl: createWebglLeases(1),
    apple: false,
    inside: undefined,
    on: {
      state: () => {},
      title: () => {},
      refused: () => {},
      hiddenOutput: () => {},
      key: () => {},
      linkHint: () => {},
      room: () => {},
      bell: () => {},
      pasteRefused: () => {},
      used: () => {},
      again: () => {},
      typed: () => {},
    },
  })
  session.show()
  const tell = (message: ServerStreamMessage) => socket.say(JSON.stringify(message))
  const attach = ({ cols, rows }: { cols: number; rows: number }) => {
    tell({ type: 'attached', session_id: terminalId, cols, rows, state: 'running', cursor: 0, title: null })
    socket.say(new TextEncoder().encode('snapshot').buffer)
  }
  return {
    attach,
    output(base64) {
      socket.say(Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0)).buffer)
      return new Promise((parsed) => session.terminal.write('', parsed))
    },
    rows() {
      const { active } = session.terminal.buffer
      return Array.from(
        { length: session.terminal.rows },
        (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
      )
    },
  }
}

Reflect.set(globalThis, 'fuzzedTerminal', createFuzzedTerminal)
