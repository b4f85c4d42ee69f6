import type { Readable } from 'node:stream'
import type { HostMethod } from '#shared/contract/hostIpc.ts'
import { SandboxId } from '#shared/ids.ts'
import type { HostCall, HostCalls } from '../host/hostCalls.ts'

/** Time of each sandbox's last use, as observed by this process. */
export type SandboxUse = {
  /** Counts a call as use of its sandbox while the call is in progress. */
  trackCall(call: HostCall): HostCall
  trackConnect(connect: HostCalls['connect']): HostCalls['connect']
  trackArchive(archive: HostCalls['archive']): HostCalls['archive']
  /** Records a use of the sandbox that has just ended. */
  recordUse(id: SandboxId): void
  /**
   * @returns the current time while a use is in progress, the end of the last use, or undefined if this process
   * observed none
   */
  lastAtMs(id: SandboxId): number | undefined
  /** Removes all other sandboxes. */
  keepOnly(ids: ReadonlySet<SandboxId>): void
}

/** Whether a method counts as use. Lists, metrics and screens do not, because every open window polls them. */
const isUse = (method: HostMethod): boolean =>
  (method.startsWith('file.') && method !== 'file.list' && method !== 'file.stat') ||
  ['machine.exec', 'terminal.create', 'terminal.write'].includes(method)

export function createSandboxUse(now: () => number): SandboxUse {
  const uses = new Map<SandboxId, { open: number; lastAtMs: number }>()

  const touch = (id: SandboxId, opened = 0): void => {
    uses.set(id, { open: (uses.get(id)?.open ?? 0) + opened, lastAtMs: now() })
  }

  const trackStream = async <S extends Readable>(id: SandboxId, open: () => Promise<S>): Promise<S> => {
    touch(id, 1)
    try {
      const stream = await open()
      stream.setMaxListeners(stream.getMaxListeners() + 1) // raises the limit, because this listener is not a leak
      stream.once('close', () => touch(id, -1))
      return stream
    } catch (error) {
      touch(id, -1)
      throw error
    }
  }

  return {
    trackCall: (call) => async (method, params, options) => {
      const id = isUse(method) && 'sandboxId' in params ? SandboxId.parse(params.sandboxId) : undefined
      if (id === undefined) return call(method, params, options)
      touch(id, 1)
      try {
        return await call(method, params, options)
      } finally {
        touch(id, -1)
      }
    },
    trackConnect: (connect) => (to, signal) => trackStream(to.sandboxId, () => connect(to, signal)),
    trackArchive: (archive) => (target, signal) => trackStream(target.sandboxId, () => archive(target, signal)),
    recordUse: (id) => touch(id),
    lastAtMs(id) {
      const use = uses.get(id)
      return use && (use.open > 0 ? now() : use.lastAtMs)
    },
    keepOnly(ids) {
      for (const id of uses.keys()) if (!ids.has(id)) uses.delete(id)
    },
  }
}
