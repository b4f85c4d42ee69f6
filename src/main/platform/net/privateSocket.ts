import { createHash } from 'node:crypto'
import { lstat, mkdir, rm, rmdir } from 'node:fs/promises'
import { createConnection, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { AppError } from '#shared/appError.ts'
import { assertOwnFolder, assertOwnFolderSync } from '../files/ownFolder.ts'

/** The kernel accepts 107 bytes for the path of a Unix socket (103 on macOS). */
const maxAddressBytes = 100
const answerMs = 5_000
/** File name of a socket in the temporary folder. */
const shortName = 'socket'

/** Returns the path, or a short path in a separate folder below the temporary folder if it is too long. */
export function toSocketPath(requestedPath: string): string {
  if (Buffer.byteLength(requestedPath) <= maxAddressBytes) return requestedPath
  const name = createHash('sha256').update(requestedPath).digest('hex').slice(0, 16)
  return join(tmpdir(), `steward-${name}`, shortName)
}

/**
 * Verifies that the folder belongs to this user, and removes the socket of an exited process.
 * @param inUse message if another process listens there
 * @throws AppError `data/in-use`, or `data/unusable` if the folder or file belongs to another user
 */
export async function claimSocket(path: string, inUse: string): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await assertOwnFolder(folder)
  const present = await lstat(path).catch(() => undefined)
  if (present && !present.isSocket()) {
    throw new AppError('data/unusable', `${path} exists and is not a Steward socket.`)
  }
  if (await isAnswering(path)) throw new AppError('data/in-use', inUse)
  await rm(path, { force: true })
}

/** Removes the folder below the temporary folder. The server removes the socket when it closes. */
export async function releaseSocket(path: string): Promise<void> {
  const folder = dirname(path)
  const isShortened = basename(path) === shortName && dirname(folder) === tmpdir()
  if (isShortened) await rmdir(folder).catch(() => {}) // already removed, or another process listens there
}

/**
 * Listens on a path claimed with `claimSocket`, for this user only (0600). `listen` binds the file synchronously, so
 * the umask applies only to it and there is no moment in which other users can connect.
 */
export function listenPrivately(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const mask = process.umask(0o177)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
    process.umask(mask)
  })
}

/**
 * Opens a connection to such a socket.
 * @throws AppError `data/unusable` if the folder belongs to another user, because that user could impersonate the
 * server; the system's error if it does not exist
 */
export function connectPrivately(path: string): Socket {
  assertOwnFolderSync(dirname(path))
  return createConnection(path)
}

function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ path })
    const tell = (alive: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(alive)
    }
    // A full backlog means that a process is listening.
    const timer = setTimeout(() => tell(true), answerMs)
    socket.once('connect', () => tell(true))
    socket.once('error', (error) => tell('code' in error && error.code === 'EAGAIN'))
  })
}
