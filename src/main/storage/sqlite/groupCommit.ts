import { AppError } from '#shared/appError.ts'
import type { Database } from './openDatabase.ts'

/**
 * Batches transactions and flushes, because one fsync per request would limit the throughput to the rate of the disk.
 * All work of one event loop turn is one transaction. One flush, on a separate thread, covers all transactions of the
 * preceding few milliseconds.
 */
export type GroupCommit = {
  /**
   * Runs the work in the next transaction and resolves once it is committed. The commit survives a crash of the
   * process. A power failure within the next milliseconds may lose it and all later commits. Work that throws must not
   * have written before; other work is not affected.
   */
  commit<T>(work: () => T): Promise<T>
  /** Like `commit`, but resolves once the commit also survives a power failure. */
  commitDurable<T>(work: () => T): Promise<T>
  /** Whether all further work is rejected, because a flush failed or it was closed. */
  readonly hasEnded: boolean
  /** Commits and flushes pending work. Later work is rejected. */
  close(): Promise<void>
}

type Options = {
  database: Database
  /** Flushes everything committed before the call to disk. */
  flush: () => Promise<void>
  /**
   * Called after a failed flush. The state on disk is then unknown, because the system drops pages that it could not
   * write. All work is rejected until the database is reopened.
   */
  onBroken: (error: unknown) => void
  /** Schedules a task in the next event loop turn. Default: `setImmediate` */
  soon?: (task: () => void) => void
  /** Schedules a task after a delay. Default: `setTimeout` */
  later?: (task: () => void, ms: number) => void
}

type Work = { run: () => unknown; mustFlush: boolean; done(value: unknown): void; fail(error: unknown): void }

/** Delay until commits without a waiting caller are flushed, in milliseconds. */
const flushWithinMs = 5

export function createGroupCommit({ database, flush, onBroken, ...options }: Options): GroupCommit {
  const soon = options.soon ?? ((task) => void setImmediate(task))
  const later = options.later ?? ((task, ms) => void setTimeout(task, ms).unref())
  let queue: Work[] = []
  let unflushed: Work[] = []
  let isDirty = false
  let flushing: Promise<void> | undefined
  let flushIsDue = false
  let refusal: AppError | undefined

  const commit = (): void => {
    const works = queue
    queue = []
    if (works.length === 0) return
    if (refusal) {
      for (const work of works) work.fail(refusal)
      return
    }
    const settled = commitAll(works) ?? works.flatMap((work) => commitAll([work]) ?? [])
    const written = settled.filter(({ ended }) => ended === 'done')
    if (written.length > 0) isDirty = true
    for (const { work, ended, value } of settled) {
      if (ended === 'failed') work.fail(value)
      else if (!work.mustFlush) work.done(value)
      else unflushed.push({ ...work, run: () => value })
    }
    if (unflushed.length > 0) startFlush()
    else if (isDirty) flushSoon()
  }

  /** Commits all work in one transaction. Returns undefined if it was rolled back. */
  const commitAll = (works: Work[]): WorkResult[] | undefined => {
    try {
      return database.transaction(() => works.map(toOutcome)).immediate()
    } catch (error) {
      if (works.length > 1) return undefined
      return works.map((work) => ({ work, ended: 'failed', value: createUnavailableError(error) }))
    }
  }

  const flushSoon = (): void => {
    if (flushIsDue || flushing) return
    flushIsDue = true
    later(() => {
      flushIsDue = false
      startFlush()
    }, flushWithinMs)
  }

  const startFlush = (): void => {
    if (flushing || refusal || !isDirty) return
    isDirty = false
    const waiting = unflushed
    unflushed = []
    flushing = flush().then(
      () => {
        flushing = undefined
        for (const work of waiting) work.done(work.run())
        if (unflushed.length > 0) startFlush()
        else if (isDirty) flushSoon()
      },
      (error: unknown) => {
        flushing = undefined
        refusal = createUnavailableError(error)
        for (const work of [...waiting, ...unflushed]) work.fail(refusal)
        unflushed = []
        onBroken(error)
      },
    )
  }

  const add = <T>(run: () => T, mustFlush: boolean): Promise<T> => {
    if (refusal) return Promise.reject(refusal)
    return new Promise<T>((resolve, reject) => {
      if (queue.length === 0) soon(commit)
      // the value is returned by `run`
      queue.push({ run, mustFlush, done: (value) => resolve(value as T), fail: reject })
    })
  }

  return {
    commit: (work) => add(work, false),
    commitDurable: (work) => add(work, true),
    get hasEnded() {
      return refusal !== undefined
    },
    async close() {
      commit()
      while (flushing || (isDirty && !refusal)) {
        startFlush()
        await flushing
      }
      refusal ??= new AppError('data/unwritable', 'The service is stopping.')
    },
  }
}

type WorkResult = { work: Work; ended: 'done' | 'failed'; value: unknown }

/** An AppError is a result and does not roll back the transaction. Any other error does. */
function toOutcome(work: Work): WorkResult {
  try {
    return { work, ended: 'done', value: work.run() }
  } catch (error) {
    if (error instanceof AppError) return { work, ended: 'failed', value: error }
    throw error
  }
}

function createUnavailableError(cause: unknown): AppError {
  return new AppError('data/unwritable', 'The ledger is not writable.', { cause })
}
