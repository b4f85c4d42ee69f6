import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

const endMs = 10_000

/** A process of the host. Its number alone may by now be another's. */
export type ProcessMark = { pid: number; startedTicks: number }

/** `foreground`: the process group in the foreground of its terminal. `cpuTicks`: its processor time so far, in user and kernel mode. */
type ProcessRow = ProcessMark & { state: string; session: number; foreground: number; cpuTicks: number }

/** @returns undefined when there is no such process any more */
export async function markProcess(pid: number): Promise<ProcessMark | undefined> {
  const row = await readProcess(pid)
  return row && { pid, startedTicks: row.startedTicks }
}

async function isAlive({ pid, startedTicks }: ProcessMark): Promise<boolean> {
  const row = await readProcess(pid)
  return row !== undefined && row.startedTicks === startedTicks && row.state !== 'Z'
}

/** Whether it does nothing: it was stopped, or has ended. */
export async function isStopped(pid: number): Promise<boolean> {
  const row = await readProcess(pid)
  return row === undefined || 'TtZX'.includes(row.state)
}

/** @returns false when it has ended already */
export function kill(pid: number): boolean {
  return sendSignal(pid, 'SIGKILL')
}

/** @returns false when it has ended already */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Kills it, unless its number is by now another's, and waits a while for its end. */
export async function endProcess(mark: ProcessMark): Promise<void> {
  const end = performance.now() + endMs
  for (let waitMs = 1; (await isAlive(mark)) && performance.now() < end; waitMs = Math.min(waitMs * 2, 100)) {
    kill(mark.pid)
    await pause(waitMs)
  }
}

/** Kills a command together with everything that its terminal's session still holds. */
export async function killSession(leader: number): Promise<void> {
  const names = await readdir('/proc')
  const rows = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => readProcess(Number(name))))
  for (const row of rows) if (row?.session === leader) kill(row.pid)
}

/** See proc_pid_stat(5). The name in parentheses may itself hold parentheses and blanks. */
export async function readProcess(pid: number): Promise<ProcessRow | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined)
  if (text === undefined) return undefined
  const [state = '', , , session = '', , foreground = '', ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const field = (number: number): number => Number(rest[number - 9]) // `rest` begins with field 9 of the whole line
  return {
    pid,
    state,
    session: Number(session),
    foreground: Number(foreground),
    startedTicks: field(22),
    cpuTicks: field(14) + field(15),
  }
}
