import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The kernel takes 107 bytes for the address of a Unix socket (103 on macOS). */
const maxAddressBytes = 100

/** Everything of the sandbox host: its socket, its pid file, files of machines and of terminals. */
export function hostFolder(dataDir: string): string {
  return join(dataDir, 'host')
}

/** In the host's folder, or for a folder with a long name in one of its own below the temporary folder. */
export function hostSocketPath(dataDir: string): string {
  const path = join(hostFolder(dataDir), 'host.sock')
  if (Buffer.byteLength(path) <= maxAddressBytes) return path
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  return join(tmpdir(), `steward-${name}`, 'host.sock')
}
