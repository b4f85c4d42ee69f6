import { AppError } from '#shared/appError.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { SandboxInstance } from './sandboxRuntime.ts'

/** Sandboxes of a runtime that are running or starting. */
export type ActiveSandboxes<M extends SandboxInstance> = {
  /**
   * Allows only one start at a time for each id, because two sandboxes would share the files and limits.
   * @throws AppError `sandbox/busy`
   */
  begin(id: SandboxId, begin: () => Promise<M>): Promise<M>
  /** @returns the running sandbox, or undefined if it is not running or still starting */
  running(id: SandboxId): M | undefined
  /** @throws AppError `sandbox/busy` while the sandbox is running or starting */
  assertInactive(id: SandboxId): void
}

export function createActiveSandboxes<M extends SandboxInstance>(): ActiveSandboxes<M> {
  const active = new Map<SandboxId, M | undefined>()
  const assertInactive = (id: SandboxId): void => {
    if (active.has(id)) throw new AppError('sandbox/busy', `Sandbox ${id} is already running.`)
  }
  return {
    async begin(id, begin) {
      assertInactive(id)
      active.set(id, undefined)
      try {
        const instance = await begin()
        active.set(id, instance)
        void instance.ended.then(() => active.delete(id))
        return instance
      } catch (error) {
        active.delete(id)
        throw error
      }
    },
    running: (id) => active.get(id),
    assertInactive,
  }
}
