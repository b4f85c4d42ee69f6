import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { listProcesses } from './processes.ts'

/**
 * Lists resources of a sandbox that remain on this computer: processes, mounts, loop devices, cgroups, and files below
 * `folder` by their relative path. Processes are those of `uid`, or those with the id in their command or environment.
 */
export async function listSandboxResources(options: {
  id: string
  folder: string
  uid?: number | undefined
}): Promise<string[]> {
  const [processes, mounts, devices, cgroups, files] = await Promise.all([
    options.uid === undefined ? listProcessesNaming(options.id) : listProcessesOf(options.uid),
    listMounts(options.id),
    listLoopDevices(options.id),
    listCgroups(options.id),
    listFiles(options.folder, options.id),
  ])
  return [...processes, ...mounts, ...devices, ...cgroups, ...files]
}

/** Returns the host uid of a stored sandbox's root, or undefined if that is the user that runs Steward. */
export async function findUid(folder: string, id: string): Promise<number | undefined> {
  const { uid }: { uid: number | null } = JSON.parse(await readFile(join(folder, id, 'machine.json'), 'utf8'))
  return uid ?? undefined
}

async function listProcessesOf(uid: number): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'uid=,pid=,args='])
  return stdout.split('\n').filter((line) => line.trim().startsWith(`${uid} `))
}

function listProcessesNaming(id: string): string[] {
  return listProcesses()
    .filter(({ command, environment }) => `${command} ${environment}`.includes(id))
    .map(({ pid, command }) => `${pid} ${command}`)
}

async function listMounts(id: string): Promise<string[]> {
  const text = await readFile('/proc/self/mountinfo', 'utf8')
  return text.split('\n').filter((line) => line.includes(id))
}

/** Lists loop devices whose backing file has `part` in its path, including deleted ones. */
export async function listLoopDevices(part: string): Promise<string[]> {
  const names = (await readdir('/sys/block').catch(() => [])).filter((name) => name.startsWith('loop'))
  const files = await Promise.all(
    names.map((name) => readFile(join('/sys/block', name, 'loop/backing_file'), 'utf8').catch(() => '')),
  )
  return files.filter((file) => file.includes(part)).map((file) => `loop device of ${file.trim()}`)
}

/** Cgroups of other sandboxes may disappear during the scan, and `find` reports an error for them. */
export async function listCgroups(id: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('find', ['/sys/fs/cgroup', '-name', `*${id}*`]).catch((error) => error)
  return String(stdout).split('\n').filter(Boolean)
}

/** Lists files and folders whose names contain the id. Entries may disappear during the scan. */
async function listFiles(folder: string, id: string, path = ''): Promise<string[]> {
  const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => [])
  const paths = await Promise.all(
    entries.map((entry) => {
      const entryPath = join(path, entry.name)
      if (entry.name.includes(id)) return [entryPath]
      return entry.isDirectory() ? listFiles(folder, id, entryPath) : []
    }),
  )
  return paths.flat()
}
