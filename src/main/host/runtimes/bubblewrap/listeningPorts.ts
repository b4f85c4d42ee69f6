import { readFile } from 'node:fs/promises'
import { portsIn } from '../inside/portsIn.ts'

/** Of the network that a process is in. See proc_pid_net(5). */
export async function listeningPortsOf(pid: number): Promise<number[]> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'latin1').catch(() => '')),
  )
  return portsIn(tables)
}
