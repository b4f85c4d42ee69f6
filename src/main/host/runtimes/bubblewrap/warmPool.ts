import type { Log } from '#platform/logging/log.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'

/** Properties of a sandbox that cannot change after its start. */
export type WarmSandboxKind = Pick<SandboxSpec, 'diskGb' | 'network'>

/** Started, empty and unassigned sandbox. */
export type WarmSandbox = {
  /** Resolves when the sandbox has ended for any reason. */
  ended: Promise<unknown>
  /** Ends the sandbox and removes its files. */
  discard(): Promise<void>
}

export type WarmPool<S extends WarmSandbox> = {
  /**
   * Takes a matching sandbox out of the pool and refills the pool with this kind after a pause.
   * @returns undefined if no sandbox matches
   */
  take(kind: WarmSandboxKind): S | undefined
  close(): Promise<void>
}

type WarmPoolOptions<S extends WarmSandbox> = {
  /** Number of warm sandboxes; 0 for none. */
  max: number
  make: (kind: WarmSandboxKind, signal: AbortSignal) => Promise<S>
  log: Log
  /** Pause before a new sandbox is started, in milliseconds. Leaves the CPU to the sandbox that was just taken. */
  restMs?: number
  /** Time without requests after which warm sandboxes end, in milliseconds. */
  idleMs?: number
}

const isSameKind = (a: WarmSandboxKind, b: WarmSandboxKind): boolean => a.diskGb === b.diskGb && a.network === b.network

/**
 * Creates a pool of warm sandboxes of the most recently requested kind, because users tend to create similar sandboxes.
 */
export function createWarmPool<S extends WarmSandbox>(options: WarmPoolOptions<S>): WarmPool<S> {
  const { max, make, log, restMs = 250, idleMs = 600_000 } = options
  const ready: { sandbox: S; kind: WarmSandboxKind }[] = []
  const closing = new AbortController()
  let nextKind: WarmSandboxKind | undefined
  let making: Promise<void> | undefined
  let resting: NodeJS.Timeout | undefined
  let idle: NodeJS.Timeout | undefined

  const discard = async (fits: (kind: WarmSandboxKind) => boolean): Promise<void> => {
    const matching = ready.filter(({ kind }) => fits(kind))
    ready.splice(0, ready.length, ...ready.filter((it) => !matching.includes(it)))
    const results = await Promise.allSettled(matching.map(({ sandbox }) => sandbox.discard()))
    for (const result of results) {
      if (result.status === 'rejected') log.warn('failed to end a warm sandbox', { error: result.reason })
    }
  }

  const fill = async (): Promise<void> => {
    for (;;) {
      const kind = nextKind
      if (!kind || closing.signal.aborted) return
      await discard((it) => !isSameKind(it, kind))
      if (ready.length >= max) return
      const sandbox = await make(kind, closing.signal)
      const entry = { sandbox, kind }
      ready.push(entry)
      void sandbox.ended.then(() => {
        const index = ready.indexOf(entry)
        if (index < 0) return
        ready.splice(index, 1)
        void sandbox.discard().catch((error: unknown) => log.warn('failed to end a warm sandbox', { error }))
      })
      if (closing.signal.aborted || !nextKind) await discard(() => true)
    }
  }

  const fillSoon = (): void => {
    clearTimeout(resting)
    resting = setTimeout(() => {
      making ??= fill()
        .catch((error: unknown) => {
          if (!closing.signal.aborted) log.warn('failed to create a warm sandbox', { error })
        })
        .finally(() => {
          making = undefined
        })
    }, restMs)
    resting.unref()
  }

  const endWhenIdle = (): void => {
    clearTimeout(idle)
    idle = setTimeout(() => {
      nextKind = undefined
      void discard(() => true)
    }, idleMs)
    idle.unref()
  }

  return {
    take(kind) {
      if (max === 0 || closing.signal.aborted) return undefined
      nextKind = kind
      endWhenIdle()
      fillSoon()
      const index = ready.findIndex((it) => isSameKind(it.kind, kind))
      return index < 0 ? undefined : ready.splice(index, 1)[0]?.sandbox
    },
    async close() {
      closing.abort(new Error('The sandbox host is shutting down.'))
      clearTimeout(resting)
      clearTimeout(idle)
      await making
      await discard(() => true)
    },
  }
}
