import { AppError } from '#shared/appError.ts'
import type { Database } from './openDatabase.ts'

/**
 * Batches transactions and disk flushes: one fsync per request would limit the service to the rate of the disk. All
 * work of one turn of the event loop is one transaction; one flush, on a separate thread, covers all transactions of
 * the few milliseconds before it.
 */
export type GroupCommit = {
  /**
   * Does the work in the next transaction, and resolves once it is committed: it survives the end of the process. A
   * power cut within the next milliseconds may lose it, with all that came after. Work that throws must not have
   * written before; it fails alone.
   */
  commit<T>(work: () => T): Promise<T>
  /** As `commit`; resolves once it survives a power cut too. */
  commitDurable<T>(work: () => T): Promise<T>
  /** All work is refused from now on: a flush failed, or it was closed. */
  readonly hasEnded: boolean
  /** Commits and flushes what was given. Later work is refused. */
  close(): Promise<void>
}

type Options = {
  database: Database
  /** Brings everything committed before the call to the disk. */
  flush: () => Promise<void>
  /**
   * Called when a flush failed. The state on disk is then unknown, because the system drops pages that it could not
   * write, so all work is rejected until the database is reopened.
   */
  onBroken: (error: unknown) => void
  /** In the next turn of the event loop; absent is `setImmediate`. */
  soon?: (task: () => void) => void
  /** After some milliseconds; absent is `setTimeout`. */
  later?: (task: () => void, ms: number) => void
}

type Work = { run: () => unknown; mustFlush: boolean; done(value: unknown): void; fail(error: unknown): void }

/** Delay until writes without a waiter are flushed together, in milliseconds. */
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

  /** Commits all in one transaction. Returns undefined if it was rolled back. */
  const commitAll = (works: Work[]): Settled[] | undefined => {
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
      queue.push({ run, mustFlush, done: (value) => resolve(value as T), fail: reject }) // `run` returned it
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

type Settled = { work: Work; ended: 'done' | 'failed'; value: unknown }

/** An AppError is a result, and the transaction continues. Any other error rolls it back. */
function toOutcome(work: Work): Settled {
  try {
    return { work, ended: 'done', value: work.run() }
  } catch (error) {
    if (error instanceof AppError) return { work, ended: 'failed', value: error }
    throw error
  }
}

function createUnavailableError(cause: unknown): AppError {
  return new AppError('data/unwritable', 'The ledger cannot be written to.', { cause })
}
