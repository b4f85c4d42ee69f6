import { join } from 'node:path'
import { socketPath } from './privateSocket.ts'

/** Everything of the sandbox host: its socket, its pid file, files of machines and of terminals. */
export function hostFolder(dataDir: string): string {
  return join(dataDir, 'host')
}

/** Exists while a host runs, and after a crash. */
export function hostPidFile(dataDir: string): string {
  return join(hostFolder(dataDir), 'host.pid')
}

/** In the host's folder, where that makes no name too long for a socket. */
export function hostSocketPath(dataDir: string): string {
  return socketPath(join(hostFolder(dataDir), 'host.sock'))
}
