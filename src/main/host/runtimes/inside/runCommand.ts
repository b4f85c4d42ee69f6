import type { ExecOutcome, ExecRequest } from '../sandboxRuntime.ts'
import { createNotStartedError, parseExit, toCommandFields } from './commands.ts'
import type { OperationResult, OperationTransport } from './execProtocol.ts'
import { createOutputBuffer } from './outputBuffer.ts'

const timeoutExitCode = 124

/** @param imageVariables environment that the image adds to every command, as NAME=VALUE */
export async function runCommand(
  transport: OperationTransport<'exec'>,
  request: ExecRequest,
  imageVariables: readonly string[] = [],
): Promise<ExecOutcome> {
  const startedAt = performance.now()
  const stdout = createOutputBuffer(request.onOutput)
  const stderr = createOutputBuffer(request.onOutput)
  const operation = transport.open({
    mode: 'exec',
    fields: toCommandFields(request, imageVariables),
    onOutput: stdout.take,
    onErrors: stderr.take,
  })
  let killed = false
  const kill = (): void => {
    killed = true
    operation.kill()
  }
  const timer = setTimeout(kill, request.timeoutMs)
  request.signal.addEventListener('abort', kill, { once: true })
  if (request.signal.aborted) kill()
  const result = await operation.result
  clearTimeout(timer)
  request.signal.removeEventListener('abort', kill)
  return {
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    exitCode: killed ? timeoutExitCode : toExitCode(result, request.cwd),
    timedOut: killed,
    truncated: stdout.isTruncated() || stderr.isTruncated(),
    durationMs: performance.now() - startedAt,
  }
}

function toExitCode(result: OperationResult, cwd: string | undefined): number {
  if (result.kind !== 'ended') throw createNotStartedError(result, cwd)
  return parseExit(result.status).exitCode
}
