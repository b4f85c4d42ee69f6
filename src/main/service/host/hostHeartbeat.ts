import { readFile } from 'node:fs/promises'
import { AppError } from '../../../shared/appError.ts'
import { type HostProcess, isHostStopped, killHostProcess } from '../../platform/hostProcess.ts'
import type { IpcClient } from '../../platform/ipc/ipcClient.ts'
import type { Log } from '../../platform/log.ts'
import { createSilenceMeter } from './silenceMeter.ts'

export type HeartbeatOptions = {
  /** Finds the process that listens; undefined while its number is not known. */
  findHost: () => Promise<HostProcess | undefined>
  intervalMs?: number
  maxSilentMs?: number
  log: Log
}

export type HostHeartbeat = {
  /** Watches the host at the other end of a connection until that ends. */
  watch(client: Pick<IpcClient, 'call' | 'ended'>): void
  /** No host listens: the next one begins anew. */
  reset(): void
}

/** Ends a host whose event loop stands still, so that the connection is lost and another is started. */
export function createHostHeartbeat(options: HeartbeatOptions): HostHeartbeat {
  const { findHost, log, intervalMs = 1_000, maxSilentMs = 30_000 } = options
  // Kept from one connection to the next: a host that stands still is connected to again and again.
  const meter = createSilenceMeter({ maxSilentMs, intervalMs })
  return {
    reset: meter.answered,
    watch(client) {
      let ended = false
      let asking = false
      let looking = false
      let host: HostProcess | undefined
      const ask = (): void => {
        if (asking) return
        asking = true
        const answered = (): void => {
          asking = false
          meter.answered()
        }
        client.call('ping', {}).then(answered, (failure: unknown) => {
          // An error that the host sends is an answer too.
          if (!(failure instanceof AppError && failure.code === 'host/unavailable')) answered()
        })
      }
      const look = async (): Promise<void> => {
        host ??= await findHost()
        const isStopped = host !== undefined && (await isHostStopped(host))
        const isSilent = meter.look({ monotonicMs: performance.now(), bootMs: await readBootMs(), isStopped })
        if (!isSilent || !host || ended || !asking) return
        log.error('the sandbox host stood still and is ended, to be started again', { pid: host.pid, maxSilentMs })
        await killHostProcess(host)
      }
      const beat = setInterval(() => {
        ask()
        if (looking) return
        looking = true
        void look().finally(() => {
          looking = false
        })
      }, intervalMs)
      void client.ended.then(() => {
        ended = true
        clearInterval(beat)
      })
      ask()
    },
  }
}

/** Time since the start of this computer, with the time in which it slept. */
async function readBootMs(): Promise<number> {
  const uptime = await readFile('/proc/uptime', 'utf8').catch(() => '') // other systems: no suspend is seen
  return Number.parseFloat(uptime) * 1_000
}
