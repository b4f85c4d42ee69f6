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

/** @throws AppError what the host says; `host/unavailable` when it is away or does not answer in time. */
export type HostCall = <M extends HostMethod>(
  method: M,
  params: HostParams<M>,
  options?: HostCallOptions,
) => Promise<HostAnswer<M>>

export type HostCalls = {
  call: HostCall
  /** A viewer of a terminal. While the host is away it ends at once with `host/unavailable`. */
  attach(params: TerminalAttach, handlers: IpcStreamHandlers): IpcStream
  /** @throws AppError `port/…`, `sandbox/not-running`, `host/unavailable` */
  connect(to: { sandboxId: SandboxId; port: number }, signal: AbortSignal): Promise<Duplex>
  /** A folder as a tar; `signal` limits the beginning only. @throws AppError `file/…`, `sandbox/not-running`, `host/unavailable` */
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
    // The schema of this very method: what it gives is HostResult<M>.
    return { result: hostMethods[request.method].result.parse(reply.result) as HostResult<M>, body: reply.body }
  } catch (error) {
    throw signal?.aborted ? createAbandonedError(error) : error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}

/** The client disconnected, or the service is stopping: the caller may retry. */
function createAbandonedError(cause?: unknown): AppError {
  return new AppError('service/unavailable', 'The request was abandoned.', { cause })
}
