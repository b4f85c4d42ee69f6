import { mkdir, rm, writeFile } from 'node:fs/promises'
import { getHostFolder, getHostPidFile, getHostSocketPath } from '#platform/hostSocket.ts'
import { claimSocket } from '#platform/privateSocket.ts'

/**
 * Ensures that this process may be the host of this data folder, and removes the socket of an ended one.
 * @throws AppError `data/in-use` if another host answers there
 */
export async function claimAddress(dataDir: string): Promise<string> {
  const path = getHostSocketPath(dataDir)
  // Others may pass through to what a runtime opens to them, and list nothing.
  await mkdir(getHostFolder(dataDir), { recursive: true, mode: 0o711 })
  await claimSocket(path, `A sandbox host already runs on ${dataDir}.`)
  return path
}

export function writePidFile(dataDir: string, pid: number): Promise<void> {
  return writeFile(getHostPidFile(dataDir), `${pid}\n`, { mode: 0o600 })
}

export function removePidFile(dataDir: string): Promise<void> {
  return rm(getHostPidFile(dataDir), { force: true })
}
