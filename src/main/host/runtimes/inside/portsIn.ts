const listening = '0A'

/** Those that connections to the loopback of the machine reach. See proc_pid_net(5). */
export function portsIn(tables: readonly string[]): number[] {
  const ports = new Set<number>()
  for (const line of tables.flatMap((table) => table.split('\n').slice(1))) {
    const [, local = '', , state] = line.trim().split(/\s+/)
    const [address = '', port = ''] = local.split(':')
    if (state === listening && reachable(address)) ports.add(Number.parseInt(port, 16))
  }
  return [...ports].sort((one, other) => one - other)
}

/** Addresses are written as 32-bit words of the machine's own byte order: little-endian where sandboxes run. */
function reachable(address: string): boolean {
  if (/^0+$/.test(address)) return true // any address
  const isLoopback4 = address.length === 8 && address.endsWith('7F')
  const isMapped4 = address.startsWith('0000000000000000FFFF0000') && address.endsWith('7F')
  return isLoopback4 || isMapped4 || address === '00000000000000000000000001000000'
}
