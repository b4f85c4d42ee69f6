import { AppError } from '#shared/appError.ts'
import type { TransferList } from './transferList.ts'
import type { Uploader } from './uploader.ts'

export type TransferRunner = {
  /** Starts waiting transfers. */
  start(): void
  stop(id: string): void
  close(): void
}

/** Number of concurrent uploads. More do not increase the throughput. */
const concurrency = 3
const retryMs = [500, 1000, 2000, 4000] as const

/** Sends waiting transfers, and retries after transient errors. */
export function createTransferRunner(transfers: TransferList, uploader: Uploader): TransferRunner {
  const { find, change } = transfers
  const controls = new Map<string, AbortController>()
  let isClosed = false

  const start = (): void => {
    for (const { id, file } of transfers.list().filter(({ state }) => state === 'waiting')) {
      if (isClosed || controls.size >= concurrency) return
      if (!file) continue
      change(id, { state: 'sending' })
      void run(id, file)
    }
  }

  const run = async (id: string, file: File): Promise<void> => {
    const control = new AbortController()
    controls.set(id, control)
    for (let failures = 0; ; failures++) {
      const before = find(id)?.sent ?? 0
      try {
        await uploader.send(id, file, control.signal)
        break
      } catch (error) {
        if (control.signal.aborted) break
        if ((find(id)?.sent ?? 0) > before) failures = 0
        if (!(await handleFailure(id, { error, failures, signal: control.signal }))) break
      }
    }
    if (controls.get(id) === control) controls.delete(id)
    start()
  }

  /** @returns whether to retry; resolves after the retry delay */
  const handleFailure = async (id: string, { error, failures, signal }: Failure): Promise<boolean> => {
    const code = error instanceof AppError ? error.code : undefined
    if (code === 'file/exists') {
      change(id, { state: 'asking' })
      return false
    }
    if (code === 'upload/not-found') {
      change(id, { uploadId: undefined, sent: 0 })
      return failures < 3
    }
    if (code === 'file/no-space') {
      pauseAll(error)
      return false
    }
    const passing = code === 'service/unavailable' || code === 'host/unavailable' || code === 'upload/too-many'
    if (!passing && code !== 'upload/offset') {
      change(id, { state: 'failed', failure: error, bytesPerSecond: 0 })
      return false
    }
    if (passing) change(id, { state: 'lost', bytesPerSecond: 0 })
    await wait(retryMs[Math.min(failures, retryMs.length - 1)] ?? 0, signal)
    return !signal.aborted
  }

  const stop = (id: string): void => {
    controls.get(id)?.abort()
    controls.delete(id)
  }

  /** The other files would fail for the same reason. */
  const pauseAll = (error: unknown): void => {
    for (const { id, state } of transfers.list()) {
      if (state !== 'waiting' && state !== 'sending' && state !== 'lost') continue
      stop(id)
      change(id, { state: 'paused', failure: error, bytesPerSecond: 0 })
    }
  }

  return {
    start,
    stop,
    close() {
      isClosed = true
      for (const control of controls.values()) control.abort()
    },
  }
}

type Failure = { error: unknown; failures: number; signal: AbortSignal }

/** Resolves after the delay, or when aborted. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
