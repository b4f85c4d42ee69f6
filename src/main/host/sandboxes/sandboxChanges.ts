import { AppError } from '#shared/appError.ts'
import type { SandboxId } from '#shared/ids.ts'

/** Serializes the changes of each sandbox. */
export type SandboxChanges = {
  underWay(id: SandboxId): boolean
  /**
   * Runs the change immediately, or throws. The signal fires when a later change overrides this one.
   * @throws AppError `sandbox/busy`
   */
  begin<T>(id: SandboxId, change: (called: AbortSignal) => Promise<T>): Promise<T>
  /** Runs the change after all pending changes. */
  queue(id: SandboxId, change: () => Promise<void>): Promise<void>
  /** Aborts the pending changes, then runs this one. A second call joins the first. */
  overrule(id: SandboxId, change: () => Promise<void>): Promise<void>
}

type Line = { last: Promise<void>; callOffs: Set<AbortController>; overruling: Promise<void> | undefined }

export function createSandboxChanges(): SandboxChanges {
  const lines = new Map<SandboxId, Line>()

  const append = async <T>(id: SandboxId, change: (called: AbortSignal) => Promise<T>): Promise<T> => {
    const line = lines.get(id) ?? { last: Promise.resolve(), callOffs: new Set(), overruling: undefined }
    lines.set(id, line)
    const controller = new AbortController()
    line.callOffs.add(controller)
    const before = line.last
    const settled = Promise.withResolvers<void>()
    line.last = settled.promise
    try {
      await before
      controller.signal.throwIfAborted()
      return await change(controller.signal)
    } finally {
      line.callOffs.delete(controller)
      // Removed before the caller is notified, so that the caller may start the next change immediately.
      if (line.callOffs.size === 0) lines.delete(id)
      settled.resolve()
    }
  }

  return {
    underWay: (id) => lines.has(id),
    async begin(id, change) {
      if (lines.has(id)) throw new AppError('sandbox/busy', 'Another change of this sandbox is in progress.')
      return append(id, change)
    },
    queue: (id, change) => append(id, change),
    overrule(id, change) {
      const present = lines.get(id)
      if (present?.overruling) return present.overruling
      for (const controller of present?.callOffs ?? []) {
        controller.abort(new AppError('sandbox/not-found', 'This sandbox was deleted.'))
      }
      const done = append(id, change)
      const line = lines.get(id)
      if (line) line.overruling = done
      return done
    },
  }
}
