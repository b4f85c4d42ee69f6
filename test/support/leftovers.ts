import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Everything of a machine that is still on this host: processes of its uid, mounts, loop devices, cgroups and files. */
export async function leftovers(options: { id: string; folder: string; uid?: number | undefined }): Promise<string[]> {
  const [processes, mounts, devices, cgroups, files] = await Promise.all([
    listProcesses(options.uid),
    listMounts(options.id),
    listLoopDevices(options.id),
    listCgroups(options.id),
    listFiles(options.folder, options.id),
  ])
  return [...processes, ...mounts, ...devices, ...cgroups, ...files]
}

/** The host's uid that a stored machine's root is; undefined when it is the user that runs Steward. */
export async function findUid(folder: string, id: string): Promise<number | undefined> {
  const { uid }: { uid: number | null } = JSON.parse(await readFile(join(folder, id, 'machine.json'), 'utf8'))
  return uid ?? undefined
}

async function listProcesses(uid: number | undefined): Promise<string[]> {
  if (uid === undefined) return []
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'uid=,pid=,args='])
  return stdout.split('\n').filter((line) => line.trim().startsWith(`${uid} `))
}

async function listMounts(id: string): Promise<string[]> {
  const text = await readFile('/proc/self/mountinfo', 'utf8')
  return text.split('\n').filter((line) => line.includes(id))
}

/** Loop devices whose file has this in its path, deleted or not. */
export async function listLoopDevices(part: string): Promise<string[]> {
  const names = (await readdir('/sys/block').catch(() => [])).filter((name) => name.startsWith('loop'))
  const files = await Promise.all(
    names.map((name) => readFile(join('/sys/block', name, 'loop/backing_file'), 'utf8').catch(() => '')),
  )
  return files.filter((file) => file.includes(part)).map((file) => `loop device of ${file.trim()}`)
}

/** Others come and go while it is looked: `find` complains of them. */
export async function listCgroups(id: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('find', ['/sys/fs/cgroup', '-name', `*${id}*`]).catch((error) => error)
  return String(stdout).split('\n').filter(Boolean)
}

async function listFiles(folder: string, id: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => name.includes(id))
}
