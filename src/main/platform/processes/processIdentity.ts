import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const deadlineMs = 5_000

/**
 * Returns an identifier that distinguishes a process from a later one with the same id: its start time in a
 * system-specific format.
 * @returns undefined if there is no such process, or if the system does not provide it
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  switch (process.platform) {
    case 'linux':
      return readLinuxIdentity(pid)
    case 'win32':
      return runCommand('powershell.exe', [
        '-NoProfile',
        '-Command',
        `(Get-Process -Id ${pid} -ErrorAction Stop).StartTime.ToFileTimeUtc()`,
      ])
    default:
      return runCommand('ps', ['-o', 'lstart=', '-p', String(pid)], { LC_ALL: 'C', TZ: 'UTC' })
  }
}

/** Whether the process exists. A process of another user counts as running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

async function readLinuxIdentity(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    // The name in parentheses may contain spaces, so fields are counted after it. Field 22 is the start time, field 3
    // the state.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${boot.trim()}/${fields[19]}`
  } catch {
    return undefined
  }
}

async function runCommand(command: string, parts: string[], env?: Record<string, string>): Promise<string | undefined> {
  try {
    const { stdout } = await run(command, parts, { timeout: deadlineMs, windowsHide: true, ...(env && { env }) })
    return stdout.trim() === '' ? undefined : stdout.trim()
  } catch {
    return undefined
  }
}
