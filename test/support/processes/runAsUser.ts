import { execFile } from 'node:child_process'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectFolder } from '../fixtures/testProject.ts'
import type { Json } from './runningService.ts'

/** User that Steward runs as in a test. */
export type User = 'root' | 'an ordinary user' | typeof withIds

/** User with a name and a range of subordinate ids. Sandboxes get separate ids, and images can be used. */
export const withIds = 'an ordinary user with subordinate ids'
/**
 * Index of this test worker. The kernel counts processes, watches and signals per user, across all concurrent tests.
 */
const workerNumber = Number(process.env.VITEST_POOL_ID ?? 0)
export const ordinaryUid = 12_345 + workerNumber
/** First of 65,536 subordinate ids. */
export const firstSubordinateId = 1_500_000_000 + workerNumber * 65_536
const isRoot = process.getuid?.() === 0
/** Users that this test run can switch to. An ordinary user cannot become root. */
export const users: readonly User[] = isRoot ? ['root', 'an ordinary user', withIds] : ['an ordinary user']

/** Shell commands that give the ordinary user a name and a range of subordinate ids, for this process only. */
export const nameOrdinaryUser = [
  'mount -t tmpfs none /media',
  `echo "ada:x:${ordinaryUid}:${ordinaryUid}::/:/bin/sh" > /media/passwd`,
  `echo "ada:${firstSubordinateId}:65536" > /media/subuid`,
  'cp /media/subuid /media/subgid',
  'for file in passwd subuid subgid; do test -e /etc/$file || touch /etc/$file; mount --bind /media/$file /etc/$file; done',
].join(' && ')

type Program = {
  /** Path of a project script that prints JSON. */
  script: string
  parts: readonly string[]
  /** Folder that the user owns and the script may use. */
  folder: string
  user: User
  /** Command prefix that executes its arguments. Runs as the user, directly before the script. */
  through?: readonly string[]
}

export async function runAndParse<T = Json>(program: Program): Promise<T> {
  const [command = '', ...parts] = await commandAs(program)
  const { stdout } = await promisify(execFile)(command, parts, { cwd: '/', timeout: 220_000, maxBuffer: 1 << 26 })
  return JSON.parse(stdout) as T // the caller specifies the script's output type
}

/**
 * Wraps the program to run as another user. The project and Node.js may be in folders that other users cannot enter, so
 * both are mounted elsewhere for this process only.
 */
export async function commandAs(program: Program): Promise<string[]> {
  const { script, parts, folder, user, through = [] } = program
  if (!isRoot || user === 'root') return [...through, process.execPath, join(projectFolder, script), ...parts]
  const home = join(folder, 'home')
  const node = join(folder, 'node')
  await mkdir(home)
  await writeFile(node, '')
  for (const path of [folder, home]) await chown(path, ordinaryUid, ordinaryUid)
  const uid = String(ordinaryUid)
  const become = ['setpriv', '--reuid', uid, '--regid', uid, '--clear-groups', 'env', '-i', `HOME=${home}`]
  const mounts = `mount --bind "$1" /mnt && mount --bind "$2" "$3" ${user === withIds ? `&& ${nameOrdinaryUser}` : ''} && shift 3 && exec "$@"`
  const enter = ['unshare', '--mount', 'sh', '-c', mounts, 'sh', projectFolder, process.execPath, node]
  return [...enter, ...become, 'PATH=/usr/bin:/bin', ...through, node, join('/mnt', script), ...parts]
}
