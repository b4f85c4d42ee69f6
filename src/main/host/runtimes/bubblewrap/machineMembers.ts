import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** The processes of one machine, by what was known of it before anything ran in it. */
export type MachineProcesses = {
  /** Its PID 1, as the host counts. */
  init: number
  /** Its process namespace, as links in /proc name it. */
  namespace: string
  /** None where this user may not make any. */
  cgroups: readonly string[]
}

/** Those in its process namespace: helpers that wait outside for a command are not the machine's. */
export async function listMembers({ namespace, cgroups }: MachineProcesses): Promise<number[]> {
  const listed = (await readFirst(cgroups, ['cgroup.procs']))?.split('\n') ?? (await readdir('/proc'))
  const pids = listed.filter((name) => /^\d+$/.test(name)).map(Number)
  const readNamespace = (pid: number) => readlink(`/proc/${pid}/ns/pid`)
  const inside = await Promise.all(
    pids.map((pid) =>
      readNamespace(pid)
        .then((it) => it === namespace)
        .catch(() => false),
    ),
  )
  return pids.filter((_, index) => inside[index])
}

/** The first of these files in the first folder that has one. */
export async function readFirst(folders: readonly string[], names: readonly string[]): Promise<string | undefined> {
  for (const path of folders.flatMap((folder) => names.map((name) => join(folder, name)))) {
    const text = await readFile(path, 'latin1').catch(() => undefined)
    if (text !== undefined) return text
  }
  return undefined
}
