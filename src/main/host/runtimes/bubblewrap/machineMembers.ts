import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Processes of one machine, identified by what was recorded before anything ran in it. */
export type SandboxProcesses = {
  /** PID 1 of the machine, as a host process id. */
  init: number
  /** PID namespace, as links in /proc name it. */
  namespace: string
  /** None where this user may not make any. */
  cgroups: readonly string[]
}

/** Lists processes in the machine's PID namespace. Helpers that wait outside for a command are not included. */
export async function listMembers({ namespace, cgroups }: SandboxProcesses): Promise<number[]> {
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
