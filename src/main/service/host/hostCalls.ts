import type { Duplex, Readable } from 'node:stream'
import type { IpcClient, IpcStream, IpcStreamHandlers } from '#platform/ipc/ipcClient.ts'
import { AppError } from '#shared/appError.ts'
import {
  type HostMethod,
  type HostParams,
  type HostResult,
  hostMethods,
  type TerminalAttach,
} from '#shared/contract/hostIpc.ts'
import type { SandboxId } from '#shared/ids.ts'

/** @throws AppError the error of the host, or `host/unavailable` if it is unreachable or does not respond in time */
export type HostCall = <M extends HostMethod>(
  method: M,
  params: HostParams<M>,
  options?: HostCallOptions,
) => Promise<HostAnswer<M>>

export type HostCalls = {
  call: HostCall
  /**
   * Attaches a client to a terminal. While the host is unreachable, the stream ends immediately with
   * `host/unavailable`.
   */
  attach(params: TerminalAttach, handlers: IpcStreamHandlers): IpcStream
  /** @throws AppError `port/…`, `sandbox/not-running`, `host/unavailable` */
  connect(to: { sandboxId: SandboxId; port: number }, signal: AbortSignal): Promise<Duplex>
  /**
   * Reads a folder as a tar archive. `signal` applies only until the stream starts.
   * @throws AppError `file/…`, `sandbox/not-running`, `host/unavailable`
   */
  archive(target: { sandboxId: SandboxId; path: string }, signal: AbortSignal): Promise<Readable>
}

export type HostCallOptions = { body?: Uint8Array; deadlineMs?: number; signal?: AbortSignal }
export type HostAnswer<M extends HostMethod> = { result: HostResult<M>; body: Buffer }

const defaultDeadlineMs = 30_000

export async function callHost<M extends HostMethod>(
  client: IpcClient,
  request: { method: M; params: HostParams<M> },
  { body, deadlineMs = defaultDeadlineMs, signal }: HostCallOptions = {},
): Promise<HostAnswer<M>> {
  if (signal?.aborted) throw createAbandonedError()
  const deadline = new AbortController()
  const giveUp = () => deadline.abort()
  const timer = setTimeout(giveUp, deadlineMs)
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    const reply = await client.call(request.method, request.params, {
      signal: deadline.signal,
      ...(body && { body }),
    })
    // The schema of this method returns HostResult<M>.
    return { result: hostMethods[request.method].result.parse(reply.result) as HostResult<M>, body: reply.body }
  } catch (error) {
    throw signal?.aborted ? createAbandonedError(error) : error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}

/** The client disconnected or the service is stopping. The caller may retry. */
function createAbandonedError(cause?: unknown): AppError {
  return new AppError('service/unavailable', 'The request was abandoned.', { cause })
}
