import { createNotStartedError, toCommandFields } from '../inside/commands.ts'
import type { Ending } from '../inside/ending.ts'
import { createOutputBuffer } from '../inside/outputBuffer.ts'
import type { ExecOutcome, ExecRequest } from '../sandboxRuntime.ts'
import { type Entrance, enter } from './enter.ts'

const timeoutExitCode = 124

export async function runCommand(entrance: Entrance, request: ExecRequest): Promise<ExecOutcome> {
  const startedAt = performance.now()
  const stdout = createOutputBuffer(request.onOutput)
  const stderr = createOutputBuffer(request.onOutput)
  const entered = enter(entrance, {
    mode: 'exec',
    fields: toCommandFields(request),
    onOutput: stdout.take,
    onErrors: stderr.take,
  })
  let timedOut = false
  let aborted = request.signal.aborted
  const timer = setTimeout(() => {
    timedOut = true
    entered.kill()
  }, request.timeoutMs)
  const abort = (): void => {
    aborted = true
    entered.kill()
  }
  request.signal.addEventListener('abort', abort, { once: true })
  if (aborted) abort()
  const ending = await entered.ending
  clearTimeout(timer)
  request.signal.removeEventListener('abort', abort)
  return {
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    exitCode: timedOut || aborted ? timeoutExitCode : exitCode(ending, request),
    timedOut: timedOut || aborted,
    truncated: stdout.isTruncated() || stderr.isTruncated(),
    durationMs: performance.now() - startedAt,
  }
}

function exitCode(ending: Ending, request: ExecRequest): number {
  if (ending.kind !== 'ended') throw createNotStartedError(ending, request.cwd)
  const signal = ending.status & 0x7f
  return signal === 0 ? ending.status >> 8 : 128 + signal
}
