import { readdirSync, readFileSync } from 'node:fs'

export type ProcessInfo = { pid: number; parentPid: number; command: string; environment: string }

/**
 * Lists every live process in /proc, or none if there is no /proc. Zombies are excluded, because they hold no
 * resources.
 */
export function listProcesses(): ProcessInfo[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => findProcess(Number(name)) ?? [])
}

export function findProcess(pid: number): ProcessInfo | undefined {
  const stat = readOrNothing(`/proc/${pid}/stat`)
  // The name in parentheses may contain any character, so fields are counted from its end.
  const [state, parentPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === undefined || state === '' || state === 'Z' || state === 'X') return undefined
  return {
    pid,
    parentPid: Number(parentPid),
    command: readOrNothing(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim(),
    environment: readOrNothing(`/proc/${pid}/environ`),
  }
}

/** Lists all descendants of `pid`. */
export function listDescendants(pid: number, among: readonly ProcessInfo[] = listProcesses()): ProcessInfo[] {
  const children = among.filter((it) => it.parentPid === pid)
  return children.flatMap((child) => [child, ...listDescendants(child.pid, among)])
}

/**
 * Describes the process state, the kernel function it waits in, and its children including zombies. For error messages.
 */
export function describeState(pid: number): string {
  const state = /^State:\t(.*)$/m.exec(readOrNothing(`/proc/${pid}/status`))?.[1] ?? 'ended'
  const children = readOrNothing(`/proc/${pid}/task/${pid}/children`).trim()
  return `${state}, waits in ${readOrNothing(`/proc/${pid}/wchan`)}, children: ${children || 'none'}`
}

export function isAlive(pid: number): boolean {
  return findProcess(pid) !== undefined
}

export function endProcess(pid: number): void {
  if (!(pid > 0)) throw new Error(`${pid} is the PID of no process.`)
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process exited concurrently.
  }
}

/** Returns an empty string if the file is missing or not readable. */
function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
