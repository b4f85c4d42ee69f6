import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Processes of one sandbox, identified by properties recorded before any command ran in it. */
export type SandboxProcesses = {
  /** PID 1 of the sandbox, as a PID on the host. */
  init: number
  /** PID namespace, in the notation of links in /proc. */
  namespace: string
  /** Empty if the user cannot create cgroups. */
  cgroups: readonly string[]
}

/** Lists processes in the sandbox's PID namespace. Excludes helpers that wait outside for a command. */
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

/** Reads the first existing file of the first folder that contains one. */
export async function readFirst(folders: readonly string[], names: readonly string[]): Promise<string | undefined> {
  for (const path of folders.flatMap((folder) => names.map((name) => join(folder, name)))) {
    const text = await readFile(path, 'latin1').catch(() => undefined)
    if (text !== undefined) return text
  }
  return undefined
}
