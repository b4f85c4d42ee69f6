import type { Readable } from 'node:stream'
import type { HostMethod } from '#shared/contract/hostIpc.ts'
import { SandboxId } from '#shared/ids.ts'
import type { HostCall, HostCalls } from '../host/hostCalls.ts'

/** When each sandbox was last used, as far as this process saw it. */
export type SandboxUse = {
  /** Notes what is asked of a sandbox while it lasts. */
  watchedCall(call: HostCall): HostCall
  watchedConnect(connect: HostCalls['connect']): HostCalls['connect']
  watchedArchive(archive: HostCalls['archive']): HostCalls['archive']
  /** Something that just ended was a use of it. */
  used(id: SandboxId): void
  /** Now, while something is going on; undefined when this process saw none. */
  lastAtMs(id: SandboxId): number | undefined
  /** Forgets all others. */
  keepOnly(ids: ReadonlySet<SandboxId>): void
}

/** What keeps a sandbox awake. Looking at it does not: lists, measures and reading a screen go on in every open window. */
const isUse = (method: HostMethod): boolean =>
  (method.startsWith('file.') && method !== 'file.list' && method !== 'file.stat') ||
  ['machine.exec', 'terminal.create', 'terminal.write'].includes(method)

export function sandboxUse(now: () => number): SandboxUse {
  const seen = new Map<SandboxId, { open: number; lastAtMs: number }>()

  const used = (id: SandboxId, opened = 0): void => {
    seen.set(id, { open: (seen.get(id)?.open ?? 0) + opened, lastAtMs: now() })
  }

  const watched = async <S extends Readable>(id: SandboxId, open: () => Promise<S>): Promise<S> => {
    used(id, 1)
    try {
      const stream = await open()
      stream.setMaxListeners(stream.getMaxListeners() + 1) // this one is not a leak either
      stream.once('close', () => used(id, -1))
      return stream
    } catch (failure) {
      used(id, -1)
      throw failure
    }
  }

  return {
    watchedCall: (call) => async (method, params, options) => {
      const id = isUse(method) && 'sandboxId' in params ? SandboxId.parse(params.sandboxId) : undefined
      if (id === undefined) return call(method, params, options)
      used(id, 1)
      try {
        return await call(method, params, options)
      } finally {
        used(id, -1)
      }
    },
    watchedConnect: (connect) => (to, signal) => watched(to.sandboxId, () => connect(to, signal)),
    watchedArchive: (archive) => (of, signal) => watched(of.sandboxId, () => archive(of, signal)),
    used: (id) => used(id),
    lastAtMs(id) {
      const known = seen.get(id)
      return known && (known.open > 0 ? now() : known.lastAtMs)
    },
    keepOnly(ids) {
      for (const id of seen.keys()) if (!ids.has(id)) seen.delete(id)
    },
  }
}
