import { AppError } from '#shared/appError.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { SandboxInstance } from './sandboxRuntime.ts'

/** The machines of a runtime that run, or are being started. */
export type ActiveSandboxs<M extends SandboxInstance> = {
  /** One at a time for each id: two would share its files and its limits. @throws AppError `sandbox/busy` */
  begin(id: SandboxId, begin: () => Promise<M>): Promise<M>
  /** Returns undefined while it is starting, too. */
  running(id: SandboxId): M | undefined
  /** @throws AppError `sandbox/busy` while it runs or is being started */
  assertInactive(id: SandboxId): void
}

export function createActiveSandboxs<M extends SandboxInstance>(): ActiveSandboxs<M> {
  const active = new Map<SandboxId, M | undefined>()
  const assertInactive = (id: SandboxId): void => {
    if (active.has(id)) throw new AppError('sandbox/busy', `Sandbox ${id} runs already.`)
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
