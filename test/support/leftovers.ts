import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Everything of a machine that is still on this host: processes of its uid, mounts, cgroups and files. */
export async function leftovers(options: { id: string; folder: string; uid?: number | undefined }): Promise<string[]> {
  const [processes, mounts, cgroups, files] = await Promise.all([
    processesOf(options.uid),
    mountsOf(options.id),
    cgroupsOf(options.id),
    filesOf(options.folder, options.id),
  ])
  return [...processes, ...mounts, ...cgroups, ...files]
}

/** The host's uid that a stored machine's root is; undefined when it is the user that runs Steward. */
export async function uidOf(folder: string, id: string): Promise<number | undefined> {
  const { uid }: { uid: number | null } = JSON.parse(await readFile(join(folder, id, 'machine.json'), 'utf8'))
  return uid ?? undefined
}

async function processesOf(uid: number | undefined): Promise<string[]> {
  if (uid === undefined) return []
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'uid=,pid=,args='])
  return stdout.split('\n').filter((line) => line.trim().startsWith(`${uid} `))
}

async function mountsOf(id: string): Promise<string[]> {
  const text = await readFile('/proc/self/mountinfo', 'utf8')
  return text.split('\n').filter((line) => line.includes(id))
}

async function cgroupsOf(id: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('find', ['/sys/fs/cgroup', '-name', `*${id}*`]).catch(
    (failure) => failure,
  )
  return String(stdout).split('\n').filter(Boolean)
}

async function filesOf(folder: string, id: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => name.includes(id))
}
