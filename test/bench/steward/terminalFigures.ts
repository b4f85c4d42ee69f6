import { listSandboxes } from '#shared/contract/sandboxes.ts'
import { closeTerminal, createTerminal, readTerminal, writeTerminal } from '#shared/contract/terminals.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'
import type { Attached, StewardClient } from '../../support/clients/stewardClient.ts'
import { measureEach, megabytesPerSecond, type Samples } from '../figures.ts'
import { echoOnce, rawPty } from '../peers/rawPty.ts'
import { createTypedLine } from '../peers/typedLine.ts'
import { processorMs } from './processFigures.ts'
import type { Measured } from './sandboxFigures.ts'

const line = '0123456789'.repeat(7)
export const floodBytes = 100_000_000
export const flood = `yes ${line} | head -c ${floodBytes}`
const endlessFlood = `yes ${line}`

/** Types a line over REST and reads the screen until the output appears. */
export async function writeToScreen(client: StewardClient, id: SandboxId, count: number): Promise<Samples> {
  const { session_id: sessionId } = await client.call(createTerminal, { id, command: 'bash --norc' })
  const samples = await measureEach(count, async (index) => {
    const { line, answer } = createTypedLine(index)
    await client.call(writeTerminal, { id, sessionId, input: `${line}\n` })
    while (!(await client.call(readTerminal, { id, sessionId })).output.includes(answer));
  })
  await client.call(closeTerminal, { id, sessionId })
  return samples
}

const letter = (index: number) => String.fromCharCode('a'.charCodeAt(0) + (index % 26))

export async function echoOnStream(client: StewardClient, id: SandboxId, count: number): Promise<Samples> {
  const { session_id: sessionId } = await client.call(createTerminal, { id, command: 'cat' })
  const stream = await client.attach(id, sessionId)
  const samples = await measureEach(count, (index) => waitForEcho(stream, letter(index)))
  stream.close()
  await client.call(closeTerminal, { id, sessionId })
  return samples
}

export async function echoOfRawPty(count: number): Promise<Samples> {
  const pty = rawPty('cat')
  const samples = await measureEach(count, (index) => echoOnce(pty, letter(index)))
  pty.kill()
  return samples
}

function waitForEcho(stream: Attached, character: string): Promise<void> {
  return new Promise((resolve) => {
    stream.onOutput = (bytes) => {
      if (bytes.includes(character)) resolve()
    }
    stream.send({ type: 'input', data: character })
  })
}

/**
 * Streams the output of a command to a client that only counts bytes. Measures CPU time of host, service and helpers.
 */
export async function streamThroughput(
  { steward, client }: Measured,
  id: SandboxId,
): Promise<{ megabytesPerSecond: number; processorMsPerMegabyte: number }> {
  const command = `read -r; ${flood}`
  const { session_id: sessionId } = await client.call(createTerminal, { id, command })
  const stream = await client.attach(id, sessionId)
  let bytes = 0
  let startMs = 0
  const ended = new Promise<void>((resolve) => {
    stream.onMessage = ({ type }) => type === 'exited' && resolve()
  })
  stream.onOutput = (part) => {
    if (bytes === 0) startMs = performance.now()
    bytes += part.length
  }
  const before = processorMs(steward)
  stream.send({ type: 'input', data: '\n' })
  await ended
  const elapsedMs = performance.now() - startMs
  const processorTimeMs = processorMs(steward) - before
  stream.close()
  if (bytes < floodBytes) throw new Error(`The stream lost output: ${bytes} of ${floodBytes} bytes came.`)
  return {
    megabytesPerSecond: megabytesPerSecond(bytes, elapsedMs),
    processorMsPerMegabyte: processorTimeMs / (bytes / 1e6),
  }
}

/** Runs `work` while four terminals print continuously, each with a viewer that keeps up. */
export async function withFloods<T>(client: StewardClient, id: SandboxId, work: () => Promise<T>): Promise<T> {
  const floods = await Promise.all(Array.from({ length: 4 }, () => startFlood(client, id)))
  try {
    return await work()
  } finally {
    for (const { stream, sessionId } of floods) {
      stream.close()
      await client.call(closeTerminal, { id, sessionId })
    }
  }
}

async function startFlood(client: StewardClient, id: SandboxId): Promise<{ stream: Attached; sessionId: TerminalId }> {
  const { session_id: sessionId } = await client.call(createTerminal, { id, command: endlessFlood })
  return { stream: await client.attach(id, sessionId), sessionId }
}

/** Runs the same four floods on plain node-pty, read by this process. */
export async function withRawFloods<T>(work: () => Promise<T>): Promise<T> {
  const floods = Array.from({ length: 4 }, () => rawPty(endlessFlood))
  for (const pty of floods) pty.onData(() => undefined)
  try {
    return await work()
  } finally {
    for (const pty of floods) pty.kill('SIGKILL')
  }
}

export function otherCalls(client: StewardClient, count: number): Promise<Samples> {
  return measureEach(count, () => client.call(listSandboxes, {}))
}
