import { createNotStartedError, toCommandFields } from '../inside/commands.ts'
import { createOutputBuffer } from '../inside/outputBuffer.ts'
import type { ExecOutcome, ExecRequest } from '../sandboxRuntime.ts'
import type { ChannelEnding } from './agentChannel.ts'
import type { AgentConnection } from './agentConnection.ts'

const timeoutExitCode = 124
/** Time after a kill for reading the remaining output, in milliseconds. */
const killDeadlineMs = 5_000

export async function runInContainer(
  agent: Pick<AgentConnection, 'open'>,
  environment: readonly string[],
  request: ExecRequest,
): Promise<ExecOutcome> {
  const startedAt = performance.now()
  const stdout = createOutputBuffer(request.onOutput)
  const stderr = createOutputBuffer(request.onOutput)
  const channel = agent.open({
    mode: 'exec',
    fields: toCommandFields(request, environment),
    onOutput: stdout.take,
    onErrors: stderr.take,
  })
  let killed = false
  let deadline: NodeJS.Timeout | undefined
  const kill = (): void => {
    if (killed) return
    killed = true
    channel.kill()
    deadline = setTimeout(() => {
      channel.drop()
      channel.bury({ kind: 'lost', detail: '' })
    }, killDeadlineMs)
  }
  const timer = setTimeout(kill, request.timeoutMs)
  request.signal.addEventListener('abort', kill, { once: true })
  if (request.signal.aborted) kill()
  const ending = await channel.ending
  clearTimeout(timer)
  clearTimeout(deadline)
  request.signal.removeEventListener('abort', kill)
  return {
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    exitCode: killed ? timeoutExitCode : exitCode(ending, request.cwd),
    timedOut: killed,
    truncated: stdout.isTruncated() || stderr.isTruncated(),
    durationMs: performance.now() - startedAt,
  }
}

function exitCode(ending: ChannelEnding, cwd: string | undefined): number {
  if (ending.kind !== 'ended') throw createNotStartedError(ending, cwd)
  const signal = ending.status & 0x7f
  return signal === 0 ? ending.status >> 8 : 128 + signal
}
