import { join } from 'node:path'
import { toSocketPath } from './privateSocket.ts'

/** Everything of the sandbox host: its socket, its pid file, files of machines and of terminals. */
export function getHostFolder(dataDir: string): string {
  return join(dataDir, 'host')
}

/** Exists while a host runs, and after a crash. */
export function getHostPidFile(dataDir: string): string {
  return join(getHostFolder(dataDir), 'host.pid')
}

/** In the host's folder, where that makes no name too long for a socket. */
export function getHostSocketPath(dataDir: string): string {
  return toSocketPath(join(getHostFolder(dataDir), 'host.sock'))
}
