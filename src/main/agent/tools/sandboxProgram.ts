import { randomBytes } from 'node:crypto'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { AppError } from '#shared/appError.ts'
import { removeFile, uploadFile } from '#shared/contract/files.ts'
import { closeTerminal, createTerminal, readTerminal, writeTerminal } from '#shared/contract/terminals.ts'
import type { ToolContext, ToolResult } from '#shared/contract/tools/tool.ts'
import type { TerminalId } from '#shared/ids.ts'

type Options = Pick<ToolContext, 'call' | 'callToEnd'> & {
  /** Calls an operation on behalf of the program's caller. @throws AppError */
  operate(name: string, input: unknown): Promise<unknown>
  signal: AbortSignal
  maxMs?: number
}

const maxMinutes = 10
const maxCalls = 200
const maxOutput = 64 * 1024
const maxLine = 1024 * 1024
const pollMs = 10_000

type ProgramMessage = { call?: number; name?: unknown; input?: unknown; done?: unknown; failed?: unknown }

/**
 * Runs a program in a sandbox. It communicates over a terminal in raw mode: a line that starts with a mark is a call or
 * the end, all other lines are output. This works without a network. Any process of the sandbox can write such a line,
 * so calls have the authority that `operate` grants to all of them.
 */
export async function runSandboxProgram(code: string, id: string, options: Options): Promise<ToolResult> {
  const { call, callToEnd, signal } = options
  const folder = `/tmp/steward-${randomBytes(8).toString('hex')}`
  const marker = `\u001e${randomBytes(8).toString('hex')}`
  const command = `command -v node >/dev/null || { echo "${marker}{\\"failed\\":\\"This sandbox has no Node.js. Install nodejs in it and pass its sandbox_id.\\"}"; exit 1; }; stty raw -echo; exec node ${folder}/main.mjs`
  const pendingReplies = new Set<Promise<void>>()
  let sessionId: TerminalId | undefined
  try {
    assertRunning(signal)
    await call(uploadFile, { id, path: `${folder}/program.mjs`, content: code })
    assertRunning(signal)
    await call(uploadFile, { id, path: `${folder}/main.mjs`, content: buildProgramClient(marker) })
    assertRunning(signal)
    // Not aborted, because the response has the terminal's id, which is needed to close it.
    const terminal = await callToEnd(createTerminal, { id, command, cols: 1000, rows: 24, cwd: folder })
    sessionId = terminal.session_id
    return await serveProgram({ id, sessionId, marker, pendingReplies }, options)
  } finally {
    if (sessionId !== undefined) await call(closeTerminal, { id, sessionId }).catch(() => {})
    await call(removeFile, { id, path: folder, recursive: true }).catch(() => {})
    await Promise.all(pendingReplies)
  }
}

type RunningProgram = { id: string; sessionId: TerminalId; marker: string; pendingReplies: Set<Promise<void>> }

/** Handles the calls of a program until it ends. */
async function serveProgram(program: RunningProgram, options: Options): Promise<ToolResult> {
  const { id, sessionId, marker, pendingReplies } = program
  const { call, operate, signal, maxMs = maxMinutes * 60_000 } = options
  const endAt = performance.now() + maxMs
  const lines = createLineReader()
  let [cursor, output, calls] = [0, '', 0]
  const answer = async ({ call: number, name, input }: ProgramMessage): Promise<void> => {
    const reply = await operate(String(name), input).then(
      (result) => ({ call: number, result }),
      (error: unknown) => ({ call: number, error: error instanceof Error ? error.message : 'The call failed.' }),
    )
    await call(writeTerminal, { id, sessionId, input: `${JSON.stringify(reply)}\n` })
  }
  for (;;) {
    assertRunning(signal)
    if (performance.now() > endAt) {
      throw new AppError(
        'tool/program',
        `The program ran for more than ${maxMinutes} minutes.${truncateOutput(output)}`,
      )
    }
    const read = await call(readTerminal, { id, sessionId, since: cursor, wait_ms: pollMs })
    cursor = read.cursor
    for (const line of lines(Buffer.from(read.output, read.encoding))) {
      if (!line.startsWith(marker)) {
        if (output.length < maxOutput) output += `${line}\n`.slice(0, maxOutput - output.length)
        continue
      }
      const message = parseMessage(line.slice(marker.length))
      if ('done' in message) return { output, value: message.done ?? null, calls }
      if ('failed' in message)
        throw new AppError('tool/program', `${String(message.failed).slice(0, 4000)}${truncateOutput(output)}`)
      if (++calls > maxCalls) throw new AppError('tool/program', `The program made more than ${maxCalls} calls.`)
      const work: Promise<void> = answer(message)
        .catch(() => {}) // the terminal has ended, as the next read reports
        .finally(() => pendingReplies.delete(work))
      pendingReplies.add(work)
    }
    if (read.state === 'exited') {
      throw new AppError(
        'tool/program',
        `The program exited with code ${read.exit_code} and returned no value.${truncateOutput(output)}`,
      )
    }
  }
}

/** @throws AppError with the reason if the program must end */
function assertRunning({ aborted, reason }: AbortSignal): void {
  if (!aborted) return
  throw reason instanceof AppError ? reason : new AppError('tool/denied', 'The program was stopped.')
}

function truncateOutput(output: string): string {
  return output === '' ? '' : `\nOutput:\n${output}`
}

function parseMessage(text: string): ProgramMessage {
  try {
    const message: unknown = parseJson(text)
    return typeof message === 'object' && message !== null ? message : {}
  } catch {
    return {}
  }
}

/** Splits chunks into lines. An unterminated line is truncated. */
function createLineReader(): (bytes: Buffer) => string[] {
  const decoder = new TextDecoder()
  let rest = ''
  return (bytes) => {
    const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n')
    rest = (lines.pop() ?? '').slice(-maxLine)
    return lines.map((line) => line.replace(/\r$/, ''))
  }
}

/** Builds the script that provides the object `steward` to a program in a sandbox and exchanges calls with Steward. */
function buildProgramClient(marker: string): string {
  return `import { createInterface } from 'node:readline'
const mark = ${JSON.stringify(marker)}
const ascii = (value) => (JSON.stringify(value) ?? 'null').replace(/[\\u007f-\\uffff]/g, (it) => '\\\\u' + it.charCodeAt(0).toString(16).padStart(4, '0'))
const say = (value) => new Promise((resolve) => process.stdout.write(mark + ascii(value) + '\\n', resolve))
const waiting = new Map()
let last = 0
createInterface({ input: process.stdin }).on('line', (line) => {
  const { call, result, error } = JSON.parse(line)
  const { resolve, reject } = waiting.get(call)
  waiting.delete(call)
  if (error === undefined) resolve(result)
  else reject(new Error(error))
})
globalThis.steward = new Proxy({}, {
  get: (_, name) => typeof name !== 'string' || name === 'then' ? undefined : (input = {}) => new Promise((resolve, reject) => {
    const call = ++last
    waiting.set(call, { resolve, reject })
    say({ call, name, input })
  }),
})
try {
  const program = await import('./program.mjs')
  await say({ done: (await program.default) ?? null })
} catch (error) {
  await say({ failed: String(error?.stack ?? error) })
}
process.exit(0)
`
}
