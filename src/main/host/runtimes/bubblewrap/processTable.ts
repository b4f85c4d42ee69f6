import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

const endMs = 10_000

/** Process of the host. The start time distinguishes it from a later process with the same PID. */
export type ProcessMark = { pid: number; startedTicks: number }

/** `foreground`: foreground process group of its terminal. `cpuTicks`: CPU time in user and kernel mode. */
type ProcessRow = ProcessMark & { state: string; session: number; foreground: number; cpuTicks: number }

/** @returns undefined if the process does not exist */
export async function markProcess(pid: number): Promise<ProcessMark | undefined> {
  const row = await readProcess(pid)
  return row && { pid, startedTicks: row.startedTicks }
}

async function isAlive({ pid, startedTicks }: ProcessMark): Promise<boolean> {
  const row = await readProcess(pid)
  return row !== undefined && row.startedTicks === startedTicks && row.state !== 'Z'
}

/** Whether the process is stopped or has exited. */
export async function isStopped(pid: number): Promise<boolean> {
  const row = await readProcess(pid)
  return row === undefined || 'TtZX'.includes(row.state)
}

/** @returns false if there is no such process */
export function kill(pid: number): boolean {
  return sendSignal(pid, 'SIGKILL')
}

/** Ignores PIDs of no single process, such as 0, which cgroup.procs lists for processes of another PID namespace. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  return isPid(pid) && trySignal(pid, signal)
}

export function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  // A negated 1 addresses every process of the user.
  return isPid(leader) && leader > 1 && trySignal(-leader, signal)
}

/** Whether it identifies one process. kill(2) signals the caller's process group for 0, and other groups below. */
function isPid(pid: number): boolean {
  return Number.isInteger(pid) && pid > 0
}

function trySignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false // it has already exited
  }
}

/** Kills the process, unless its PID was reused, and waits for its exit with a timeout. */
export async function endProcess(mark: ProcessMark): Promise<void> {
  const end = performance.now() + endMs
  for (let waitMs = 1; (await isAlive(mark)) && performance.now() < end; waitMs = Math.min(waitMs * 2, 100)) {
    kill(mark.pid)
    await pause(waitMs)
  }
}

export async function killSession(leader: number): Promise<void> {
  const names = await readdir('/proc')
  const rows = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => readProcess(Number(name))))
  for (const row of rows) if (row?.session === leader) kill(row.pid)
}

/** Parses /proc/PID/stat. The name in parentheses may contain parentheses and spaces. @see proc_pid_stat(5) */
export async function readProcess(pid: number): Promise<ProcessRow | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined)
  if (text === undefined) return undefined
  const [state = '', , , session = '', , foreground = '', ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const field = (number: number): number => Number(rest[number - 9]) // `rest` begins with field 9
  return {
    pid,
    state,
    session: Number(session),
    foreground: Number(foreground),
    startedTicks: field(22),
    cpuTicks: field(14) + field(15),
  }
}
