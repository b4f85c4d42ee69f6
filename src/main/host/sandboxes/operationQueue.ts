import type { SandboxId } from '#shared/ids.ts'

/** Runs the operations on each sandbox one after another. */
export type OperationQueue = {
  isBusy(id: SandboxId): boolean
  /** Runs the operation after all pending ones. Its signal fires when a later operation preempts it. */
  run<T>(id: SandboxId, operation: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Aborts the pending operations with the reason, then runs this one. A second call joins the first. */
  preempt(id: SandboxId, reason: Error, operation: () => Promise<void>): Promise<void>
}

type Line = { last: Promise<void>; pending: Set<AbortController>; preempting: Promise<void> | undefined }

export function createOperationQueue(): OperationQueue {
  const lines = new Map<SandboxId, Line>()

  const run = async <T>(id: SandboxId, operation: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const line = lines.get(id) ?? { last: Promise.resolve(), pending: new Set(), preempting: undefined }
    lines.set(id, line)
    const controller = new AbortController()
    line.pending.add(controller)
    const before = line.last
    const settled = Promise.withResolvers<void>()
    line.last = settled.promise
    try {
      await before
      controller.signal.throwIfAborted()
      return await operation(controller.signal)
    } finally {
      line.pending.delete(controller)
      // Removed before the caller is notified, so that the caller may start the next operation immediately.
      if (line.pending.size === 0) lines.delete(id)
      settled.resolve()
    }
  }

  return {
    isBusy: (id) => lines.has(id),
    run,
    preempt(id, reason, operation) {
      const existing = lines.get(id)
      if (existing?.preempting) return existing.preempting
      for (const controller of existing?.pending ?? []) controller.abort(reason)
      const done = run(id, operation)
      const line = lines.get(id)
      if (line) line.preempting = done
      return done
    },
  }
}
