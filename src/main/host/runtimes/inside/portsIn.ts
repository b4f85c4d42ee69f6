import { AppError } from '#shared/appError.ts'

const listening = '0A'
/** Maximum rows of one table, as in `read_sockets` of `shared.pl`. The kernel lists listening sockets first. */
const maxRows = 10_000

/**
 * Returns the listening ports that are reachable through the sandbox's loopback.
 * @see proc_pid_net(5)
 * @throws AppError `sandbox/full` if there are more sockets than are read
 */
export function parseListeningPorts(tables: readonly string[]): number[] {
  const ports = new Set<number>()
  for (const table of tables) {
    const rows = table.split('\n').slice(1)
    let listeners = 0
    for (const line of rows) {
      const [, local = '', , state] = line.trim().split(/\s+/)
      if (state !== listening) continue
      listeners += 1
      const [address = '', port = ''] = local.split(':')
      if (isReachable(address)) ports.add(Number.parseInt(port, 16))
    }
    if (listeners >= maxRows) {
      throw new AppError('sandbox/full', `More than ${maxRows} sockets are listening in this sandbox.`)
    }
  }
  return [...ports].sort((a, b) => a - b)
}

/**
 * Whether the loopback reaches the address. Addresses consist of 32-bit words in native byte order, which is
 * little-endian on all supported architectures.
 */
function isReachable(address: string): boolean {
  if (/^0+$/.test(address)) return true // any address
  const isLoopback4 = address.length === 8 && address.endsWith('7F')
  const isMapped4 = address.startsWith('0000000000000000FFFF0000') && address.endsWith('7F')
  return isLoopback4 || isMapped4 || address === '00000000000000000000000001000000'
}
