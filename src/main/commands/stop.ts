import { setTimeout as wait } from 'node:timers/promises'
import type { StartOptions } from '#config/startOptions.ts'
import { findLockHolder, type LockHolder } from '#platform/files/dataLock.ts'
import { connectIpc, type IpcClient } from '#platform/ipc/ipcClient.ts'
import { getHostSocketPath } from '#platform/net/hostSocket.ts'
import { findHostProcess, killHostProcess } from '#platform/processes/hostProcess.ts'
import { isRunning, processIdentity } from '#platform/processes/processIdentity.ts'
import { hostMethods } from '#shared/contract/hostIpc.ts'

const politeMs = 30_000
const answerMs = 10_000
const pollIntervalMs = 50

/**
 * Stops all processes of a data folder: the application, the service, and the sandbox host with its sandboxes.
 * @returns the exit code of the program
 */
export async function runStop({ dataFolder, json }: Pick<StartOptions, 'dataFolder' | 'json'>): Promise<number> {
  const ended = [
    await endHolder(dataFolder, 'steward.lock'),
    await endHolder(dataFolder, 'service.lock'),
    await endHost(dataFolder),
  ].filter((name) => name !== undefined)
  if (json) process.stdout.write(`${JSON.stringify({ event: 'stopped', ended })}\n`)
  else if (ended.length === 0) process.stdout.write(`Nothing is running in ${dataFolder}.\n`)
  else process.stdout.write(`Stopped: ${ended.join(', ')}.\n`)
  return 0
}

async function endHolder(folder: string, lock: string): Promise<string | undefined> {
  const holder = await findLockHolder(folder, lock)
  if (!holder) return undefined
  process.kill(holder.pid, 'SIGTERM')
  const holds = async () => isSame(await findLockHolder(folder, lock), holder)
  if (!(await waitUntilMissing(holds, politeMs))) {
    process.kill(holder.pid, 'SIGKILL')
    await waitUntilMissing(holds, politeMs)
  }
  return `${holder.program} (process ${holder.pid})`
}

async function endHost(folder: string): Promise<string | undefined> {
  const host = await connectIpc({
    path: getHostSocketPath(folder),
    onEvent: () => {},
    signal: AbortSignal.timeout(answerMs),
  }).catch(() => undefined) // no host is listening, or it does not respond
  try {
    const pid = host && (await shutDown(host))
    if (pid !== undefined) return `sandbox host (process ${pid})`
  } catch {
    // A host that listens but does not respond is killed below.
  } finally {
    host?.close()
  }
  return killHost(folder)
}

/** @returns the process id if it exited in time */
async function shutDown(host: IpcClient): Promise<number | undefined> {
  const { result } = await host.call('describe', {}, { signal: AbortSignal.timeout(answerMs) })
  const { pid } = hostMethods.describe.result.parse(result)
  await host.call('shutdown', {}, { signal: AbortSignal.timeout(politeMs) })
  return (await waitUntilMissing(async () => isRunning(pid), politeMs)) ? pid : undefined
}

/** Kills a host that does not respond. Its sandboxes end with it. */
async function killHost(folder: string): Promise<string | undefined> {
  const host = await findHostProcess(folder)
  if (!host || !(await killHostProcess(host))) return undefined
  await waitUntilMissing(async () => (await processIdentity(host.pid)) === host.identity, politeMs)
  return `unresponsive sandbox host (process ${host.pid})`
}

function isSame(now: LockHolder | undefined, before: LockHolder): boolean {
  return now?.token === before.token
}

async function waitUntilMissing(isRunning: () => Promise<boolean>, deadlineMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < deadlineMs; waitedMs += pollIntervalMs) {
    if (!(await isRunning())) return true
    await wait(pollIntervalMs)
  }
  return false
}
