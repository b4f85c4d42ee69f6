import { mkdir, rm, writeFile } from 'node:fs/promises'
import { getHostFolder, getHostPidFile, getHostSocketPath } from '#platform/net/hostSocket.ts'
import { claimSocket } from '#platform/net/privateSocket.ts'

/**
 * Claims the host socket of a data folder for this process. Removes a stale socket.
 * @throws AppError `data/in-use` if another host responds on the socket
 */
export async function claimAddress(dataDir: string): Promise<string> {
  const path = getHostSocketPath(dataDir)
  // Mode 0711: other users may traverse to what a runtime exposes to them, but cannot list the folder.
  await mkdir(getHostFolder(dataDir), { recursive: true, mode: 0o711 })
  await claimSocket(path, `A sandbox host is already running in ${dataDir}.`)
  return path
}

export function writePidFile(dataDir: string, pid: number): Promise<void> {
  return writeFile(getHostPidFile(dataDir), `${pid}\n`, { mode: 0o600 })
}

export function removePidFile(dataDir: string): Promise<void> {
  return rm(getHostPidFile(dataDir), { force: true })
}
