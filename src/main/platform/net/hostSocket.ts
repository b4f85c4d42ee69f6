import { join } from 'node:path'
import { toSocketPath } from './privateSocket.ts'

/** Returns the folder of the sandbox host, with its socket, its pid file, and the files of sandboxes and terminals. */
export function getHostFolder(dataDir: string): string {
  return join(dataDir, 'host')
}

/** Returns the path of the pid file, which exists while a host runs and after a crash. */
export function getHostPidFile(dataDir: string): string {
  return join(getHostFolder(dataDir), 'host.pid')
}

/** Returns the path of the socket, in the host's folder unless that path is too long. */
export function getHostSocketPath(dataDir: string): string {
  return toSocketPath(join(getHostFolder(dataDir), 'host.sock'))
}
