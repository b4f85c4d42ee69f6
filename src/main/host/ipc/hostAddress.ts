import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { dirname, join } from 'node:path'
import { AppError } from '../../../shared/appError.ts'
import { hostFolder, hostSocketPath } from '../../platform/hostSocket.ts'
import { requireOwnFolder } from '../../platform/ownFolder.ts'

const answerMs = 5_000

/**
 * Makes sure that this process may be the host of this data folder, and clears the socket of one that is gone.
 * @throws AppError `data/in-use` when another host answers there.
 */
export async function claimAddress(dataDir: string): Promise<string> {
  const path = hostSocketPath(dataDir)
  // Others may pass through to what a runtime opens to them, and list nothing.
  await mkdir(hostFolder(dataDir), { recursive: true, mode: 0o711 })
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await requireOwnFolder(dirname(path))
  if (await answers(path)) throw new AppError('data/in-use', `A sandbox host already runs on ${dataDir}.`)
  await rm(path, { force: true })
  return path
}

/** Removes what `claimAddress` made below the temporary folder. */
export async function leaveAddress(dataDir: string): Promise<void> {
  const folder = dirname(hostSocketPath(dataDir))
  if (folder !== hostFolder(dataDir)) await rm(folder, { recursive: true, force: true })
}

export function writePidFile(dataDir: string, pid: number): Promise<void> {
  return writeFile(pidFile(dataDir), `${pid}\n`, { mode: 0o600 })
}

export function removePidFile(dataDir: string): Promise<void> {
  return rm(pidFile(dataDir), { force: true })
}

function pidFile(dataDir: string): string {
  return join(hostFolder(dataDir), 'host.pid')
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ path })
    const tell = (alive: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(alive)
    }
    // A full queue of connections means that somebody is there.
    const timer = setTimeout(() => tell(true), answerMs)
    socket.once('connect', () => tell(true))
    socket.once('error', (failure) => tell('code' in failure && failure.code === 'EAGAIN'))
  })
}
