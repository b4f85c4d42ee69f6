import type { SandboxId } from '../../../shared/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import type { SandboxRecord, SandboxRepository } from '../sandboxes/sandboxRepository.ts'
import type { SandboxUse } from './sandboxUse.ts'

type Options = {
  records: Pick<SandboxRepository, 'all' | 'find'>
  use: Pick<SandboxUse, 'lastAtMs' | 'used' | 'keepOnly'>
  sandboxes: Pick<SandboxRegistry, 'stopIdle'>
  call: HostCall
  everyMs: number
  now: () => number
  log: Log
}

const minuteMs = 60_000

/**
 * Stops each running sandbox that nobody has used for as long as it was told. A running terminal is a use, whatever it
 * shows. After a restart of the service the time counts anew: what happened before is not known.
 */
export function idlePolicy({ records, use, sandboxes, call, everyMs, now, log }: Options): { close(): void } {
  const beganAtMs = now()
  let looking = false

  const isIdle = ({ status, idleMinutes, startedAtMs, id }: SandboxRecord): boolean => {
    if (status !== 'running' || idleMinutes === null || startedAtMs === null) return false
    const since = Math.max(startedAtMs, beganAtMs, use.lastAtMs(id) ?? 0)
    return now() - since >= idleMinutes * minuteMs
  }

  const hasTerminal = async (sandboxId: SandboxId): Promise<boolean> => {
    const { result } = await call('terminal.list', { sandboxId })
    return result.terminals.some(({ state }) => state === 'running')
  }

  const look = async (): Promise<void> => {
    const present = records.all()
    use.keepOnly(new Set(present.map(({ id }) => id)))
    for (const record of present.filter(isIdle)) {
      if (await hasTerminal(record.id)) {
        use.used(record.id)
        continue
      }
      await sandboxes.stopIdle(record.id, () => {
        const still = records.find(record.id)
        return still !== undefined && isIdle(still)
      })
    }
  }

  const timer = setInterval(() => {
    if (looking) return
    looking = true
    look()
      .catch((failure: unknown) => log.warn('idle sandboxes could not be stopped', { failure }))
      .finally(() => {
        looking = false
      })
  }, everyMs)
  return { close: () => clearInterval(timer) }
}
