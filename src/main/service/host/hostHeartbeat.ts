import { readFile } from 'node:fs/promises'
import type { IpcClient } from '#platform/ipc/ipcClient.ts'
import type { Log } from '#platform/logging/log.ts'
import { type HostProcess, isHostStopped, killHostProcess } from '#platform/processes/hostProcess.ts'
import { AppError } from '#shared/appError.ts'
import { createSilenceMeter } from './silenceMeter.ts'

export type HeartbeatOptions = {
  /** @returns the host's process, or undefined while its id is unknown */
  findHost: () => Promise<HostProcess | undefined>
  intervalMs?: number
  maxSilentMs?: number
  log: Log
}

export type HostHeartbeat = {
  /** Monitors the host of a connection until the connection ends. */
  watch(client: Pick<IpcClient, 'call' | 'ended'>): void
  /** Resets the measured silence. Called when no host listens. */
  reset(): void
}

/** Kills a host whose event loop hangs, so that the connection ends and a new host is started. */
export function createHostHeartbeat(options: HeartbeatOptions): HostHeartbeat {
  const { findHost, log, intervalMs = 1_000, maxSilentMs = 30_000 } = options
  // Shared by connections, because reconnecting to a hung host succeeds.
  const meter = createSilenceMeter({ maxSilentMs, intervalMs })
  return {
    reset: meter.recordAnswer,
    watch(client) {
      let ended = false
      let asking = false
      let looking = false
      let host: HostProcess | undefined
      const ask = (): void => {
        if (asking) return
        asking = true
        const recordAnswer = (): void => {
          asking = false
          meter.recordAnswer()
        }
        client.call('ping', {}).then(recordAnswer, (error: unknown) => {
          // An error reply also shows that the host is running.
          if (!(error instanceof AppError && error.code === 'host/unavailable')) recordAnswer()
        })
      }
      const look = async (): Promise<void> => {
        host ??= await findHost()
        const isStopped = host !== undefined && (await isHostStopped(host))
        const isSilent = meter.look({ monotonicMs: performance.now(), bootMs: await readBootMs(), isStopped })
        if (!isSilent || !host || ended || !asking) return
        log.error('sandbox host hung, restarting it', { pid: host.pid, maxSilentMs })
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

/** Returns the time since boot, including time spent suspended. */
async function readBootMs(): Promise<number> {
  const uptime = await readFile('/proc/uptime', 'utf8').catch(() => '') // on other systems, suspends are not detected
  return Number.parseFloat(uptime) * 1_000
}
