import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { createSerialQueue } from '#platform/concurrency/serialQueue.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { AppError } from '#shared/appError.ts'
import {
  changeTerminal,
  closeTerminal,
  createTerminal,
  readTerminal,
  writeTerminal,
} from '#shared/contract/terminals.ts'
import { sanitizeBlock } from '#shared/untrustedText.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import { createMessageMeter, messageBytes } from './messageLimits.ts'

type Options = {
  client: Pick<ServiceClient, 'call'>
  sandboxId: string
  /** Name of the server, used for its terminal. */
  name: string
  command: string
  /** Environment variables, including secrets. */
  environment: Readonly<Record<string, string>>
  /** Called when the program ends unexpectedly or exceeds the output limit. */
  onFault: (sentence: string) => void
  now: () => number
}

const longPollTimeoutMs = 20_000
const pollResponseMs = longPollTimeoutMs + 15_000
const chunkCharacters = 128 * 1024
/** Maximum time that a busy program may leave its input unread. */
const inputTimeoutMs = 60_000
const inputRetryMs = 100
/** Maximum number of characters of the program's standard error in an error message. */
const maxErrorCharacters = 600

/**
 * Creates a transport to a program in a sandbox over its standard input and output. A terminal in raw mode without echo
 * transports the bytes. Pipes connect it to the program, so the program has no terminal.
 * @see docs/decisions/0022
 */
export function createSandboxTransport({ client, sandboxId: id, ...options }: Options): Transport {
  const marker = `\u001e${randomBytes(12).toString('hex')}`
  const closing = new AbortController()
  const runExclusive = createSerialQueue()
  const meter = createMessageMeter(options.now)
  let sessionId: string | undefined
  let hasStarted = false
  let isClosed = false
  /** Reason for the end, as reported to `onFault`. */
  let fault: string | undefined
  /** Resolves once the output was read to its end. Never rejects. */
  let reading: Promise<void> | undefined

  const end = (): void => {
    if (isClosed) return
    isClosed = true
    closing.abort()
    transport.onclose?.()
  }
  const fail = (sentence: string): void => {
    if (isClosed) return
    fault = sentence
    options.onFault(sentence)
    end()
    void hangUp()
  }
  const hangUp = async (): Promise<void> => {
    const session = sessionId
    sessionId = undefined
    if (session !== undefined) await client.call(closeTerminal, { id, sessionId: session }).catch(() => {})
  }
  const handleLine = (line: string): void => {
    if (line.startsWith(marker)) {
      if (!hasStarted) hasStarted = true
      else fail(describeExit(line.slice(marker.length)))
      return
    }
    if (!hasStarted || line.trim() === '') return
    const message = parseMessage(line)
    if (message) transport.onmessage?.(message)
  }
  const readOutput = async (session: string): Promise<void> => {
    const lines = createLineReader(() => fail('The program sent a message that is too large.'))
    let cursor = 0
    while (!isClosed) {
      const query = { id, sessionId: session, since: cursor, wait_ms: longPollTimeoutMs }
      const read = await client.call(readTerminal, query, { signal: closing.signal, answerMs: pollResponseMs })
      if (read.missed) return fail('The program sent more output than Steward reads.')
      cursor = read.cursor
      const bytes = Buffer.from(read.output, read.encoding)
      const whole = lines(bytes)
      if (!meter.count(bytes.length, whole.length)) return fail('The program sent more output than Steward reads.')
      for (const line of whole) handleLine(line)
      if (read.state === 'exited') return fail(`The program exited with code ${read.exit_code ?? 'unknown'}.`)
    }
  }

  /** Waits for the remaining output, which explains the exit. */
  const explainExit = async (cause: unknown): Promise<AppError> => {
    await reading
    return new AppError('tool-server/failed', fault ?? 'The program has exited.', { cause })
  }
  const writeInput = async (session: string, input: string): Promise<void> => {
    for (const deadline = options.now() + inputTimeoutMs; ; ) {
      try {
        await client.call(writeTerminal, { id, sessionId: session, input }, { signal: closing.signal })
        return
      } catch (error) {
        const code = error instanceof AppError ? error.code : undefined
        if (code === 'terminal/exited') throw await explainExit(error)
        const isFull = code === 'terminal/input-full'
        if (!isFull || options.now() > deadline) throw error
        await pause(inputRetryMs, undefined, { signal: closing.signal })
      }
    }
  }
  const sendLine = async (line: string): Promise<void> => {
    for (let offset = 0; offset < line.length; offset += chunkCharacters) {
      if (isClosed || sessionId === undefined) throw new AppError('tool-server/failed', 'The program has exited.')
      // Non-ASCII characters are escaped, because a chunk may end within a character.
      const input = line.slice(offset, offset + chunkCharacters).replace(/[\u0080-\uffff]/g, escapeCharacter)
      try {
        await writeInput(sessionId, input)
      } catch (error) {
        // The program has read part of the line and would treat the next message as its remainder.
        if (offset > 0) fail('The program did not read the whole message.')
        throw error
      }
    }
  }

  const transport: Transport = {
    async start() {
      const command = buildCommand(options.command, marker)
      const session = await client.call(createTerminal, { id, command, cols: 200, rows: 4, env: options.environment })
      sessionId = session.session_id
      if (isClosed) {
        await hangUp() // `close` was called before the terminal existed
        throw new AppError('tool-server/failed', 'The connection was closed while the program was starting.')
      }
      void client.call(changeTerminal, { id, sessionId, name: `Tool server ${options.name}` }).catch(() => {})
      reading = readOutput(sessionId).catch((error: unknown) => {
        fail(error instanceof AppError ? error.message : 'The sandbox did not respond.')
      })
    },
    send: (message) => runExclusive(() => sendLine(`${JSON.stringify(message)}\n`)),
    async close() {
      end()
      await hangUp()
    },
  }
  return transport
}

/**
 * Builds the shell command. The terminal is raw, and pipes connect it to the program. Control characters are removed
 * from the output: messages contain none, and the terminal would write replies to escape sequences into the program's
 * input. The end of standard error follows the second mark.
 */
function buildCommand(command: string, marker: string): string {
  return [
    'stty raw -echo',
    'd=$(mktemp -d /tmp/steward-mcp-XXXXXXXX) && mkfifo "$d/in" || exit 125',
    `trap 'rm -rf "$d"' EXIT`,
    `printf '%s\\n' ${quote(marker)}`,
    'exec 3<&0',
    'cat <&3 >"$d/in" & feeder=$!',
    `bash -c ${quote(command)} 3<&- <"$d/in" 2>"$d/error" | tr -d '\\000-\\010\\013-\\037'`,
    `printf '\\n%s' ${quote(marker)}; tail -c 2000 "$d/error" | base64 | tr -d '\\n'; printf '\\n'`,
    'kill "$feeder"',
  ].join('\n')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function describeExit(text: string): string {
  const error = sanitizeBlock(
    Buffer.from(text, 'base64').toString('utf8').trim().slice(-maxErrorCharacters),
    maxErrorCharacters,
  )
  return error === '' ? 'The program exited.' : `The program exited. Error output: ${error}`
}

function parseMessage(line: string): JSONRPCMessage | undefined {
  try {
    const message: unknown = parseJson(line)
    // The client validates the rest.
    return typeof message === 'object' && message !== null ? (message as JSONRPCMessage) : undefined
  } catch {
    return undefined // programs print other output too
  }
}

function createLineReader(tooLong: () => void): (bytes: Buffer) => string[] {
  const decoder = new TextDecoder()
  let rest = ''
  return (bytes) => {
    const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > messageBytes || lines.some((it) => it.length > messageBytes)) {
      rest = ''
      tooLong()
      return []
    }
    return lines
  }
}
