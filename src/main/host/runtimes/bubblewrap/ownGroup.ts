import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findExecutable } from './hostTools.ts'

const callMs = 10_000
const movedMs = 10_000
const leafName = 'steward.main'
const maxRounds = 20

/**
 * Returns the socket of the user's service manager (`systemd --user`). It exists while the user is logged in or
 * lingers.
 */
export const getUserBusPath = (uid: number): string => `/run/user/${uid}/bus`

/**
 * Moves this process and its children to a new scope with delegated controllers, through the user's service manager.
 * Login sessions (`session-N.scope`) cannot be subdivided by the user; such a scope can.
 * @returns false if the manager refused or is absent
 */
export async function enterOwnScope(uid: number): Promise<boolean> {
  const busctl = await findExecutable('busctl')
  if (busctl === undefined || !(await fileExists(getUserBusPath(uid)))) return false
  const before = await readOwnMembership()
  const name = `steward-${process.pid}-${randomBytes(4).toString('hex')}.scope`
  const pids = [process.pid, ...(await listDescendants(process.pid))].map(String)
  const manager = ['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager']
  const properties = [
    ...['Description', 's', 'Sandboxes of Steward'],
    ...['Delegate', 'b', 'true'],
    ...['CollectMode', 's', 'inactive-or-failed'],
    ...['PIDs', 'au', String(pids.length), ...pids],
  ]
  const call = ['StartTransientUnit', 'ssa(sv)a(sa(sv))', name, 'fail', '4', ...properties, '0']
  try {
    await promisify(execFile)(busctl, ['--user', `--timeout=${callMs / 1000}`, 'call', ...manager, ...call], {
      timeout: callMs,
      cwd: '/',
      env: { XDG_RUNTIME_DIR: `/run/user/${uid}` },
    })
  } catch {
    return false // the reason for missing limits is determined separately
  }
  // The manager replies with a job, which completes a little later.
  const end = performance.now() + movedMs
  while ((await readOwnMembership()) === before) {
    if (performance.now() > end) return false
    await pause(10)
  }
  return true
}

/**
 * Moves every process of this group into a child group, because a group that delegates controllers such as memory must
 * not contain processes.
 * @returns a function that reverts the move, or undefined if nothing was changed
 */
export async function moveToLeafCgroup(group: string): Promise<(() => Promise<void>) | undefined> {
  const leaf = join(group, leafName)
  const moved: string[] = []
  const back = async (): Promise<void> => {
    for (const pid of moved) await move(pid, group)
    await rmdir(leaf).catch(() => {}) // another Steward instance may use it
  }
  try {
    await mkdir(leaf).catch(async (error: unknown) => {
      if (!(await fileExists(leaf))) throw error
    })
    for (let rounds = 0; rounds < maxRounds; rounds++) {
      const pids = await listMembers(group)
      if (pids.length === 0) return back
      for (const pid of pids) if (await move(pid, leaf)) moved.push(pid)
    }
  } catch {
    // The user may not subdivide this group.
  }
  await back()
  return undefined
}

/** @returns false if the process has exited or cannot be moved */
async function move(pid: string, group: string): Promise<boolean> {
  return writeFile(join(group, 'cgroup.procs'), pid, { flag: 'r+' }).then(
    () => true,
    () => false,
  )
}

async function listMembers(group: string): Promise<string[]> {
  return (await readFile(join(group, 'cgroup.procs'), 'latin1')).split('\n').filter((pid) => pid !== '' && pid !== '0')
}

async function readOwnMembership(): Promise<string> {
  return readFile('/proc/self/cgroup', 'latin1')
}

async function listDescendants(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => [])
  const texts = tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'latin1').catch(() => ''))
  const children = (await Promise.all(texts)).flatMap((text) => text.split(' ').filter(Boolean).map(Number))
  return [...children, ...(await Promise.all(children.map(listDescendants))).flat()]
}

async function fileExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
