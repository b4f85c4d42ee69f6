import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Those in its process namespace: helpers that wait outside for a command are not the machine's. */
export async function membersOf(init: number, cgroups: readonly string[]): Promise<number[]> {
  const listed = (await readFirst(cgroups, ['cgroup.procs']))?.split('\n') ?? (await readdir('/proc'))
  const pids = listed.filter((name) => /^\d+$/.test(name)).map(Number)
  const namespaceOf = (pid: number) => readlink(`/proc/${pid}/ns/pid`)
  const own = await namespaceOf(init)
  const inside = await Promise.all(
    pids.map((pid) =>
      namespaceOf(pid)
        .then((it) => it === own)
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
