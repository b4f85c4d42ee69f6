import { type ChildProcess, spawn } from 'node:child_process'
import { buildPerlScript, formatPerlArgument } from '../perlScript.ts'
import { isStopped, sendSignal } from './processTable.ts'
import { listMembers, type SandboxProcesses } from './sandboxMembers.ts'

/** Operations of `hold.pl`. */
type Work =
  | { mode: 'freeze' | 'thaw' | 'lock' | 'abandon'; path: string }
  | { mode: 'release'; path: string; folder: string }

/** Thaws again. Idempotent, with a bounded duration. */
export type Thaw = () => Promise<void>

type Helper = { perl: string; signal: AbortSignal }

const freezeTimeoutMs = 60_000
const thawTimeoutMs = 30_000
const rounds = 100

/** Flushes and freezes the file system of this folder. */
export async function freeze(folder: string, helper: Helper): Promise<Thaw> {
  const thaw = () => run(helper.perl, { mode: 'thaw', path: folder })
  return hold({ mode: 'freeze', path: folder }, helper, thaw)
}

/** Locks a disk image that is unmounted or about to be unmounted. */
export function lockImage(file: string, helper: Helper): Promise<Thaw> {
  return hold({ mode: 'lock', path: file }, helper, async () => {})
}

/** Discards unwritten changes to the file system of this folder. */
export function abandon(folder: string, perl: string): Promise<void> {
  return run(perl, { mode: 'abandon', path: folder })
}

/** Thaws the file system of a loop device that a killed process left frozen. */
export function releaseDevice(device: string, { perl, doorway }: { perl: string; doorway: string }): Promise<void> {
  return run(perl, { mode: 'release', path: device, folder: doorway })
}

/**
 * Stops all processes of a sandbox except PID 1, which is idle. Stops parents first and resumes them last, so that a
 * shell does not notice that its command was stopped.
 */
export async function stopProcesses(sandbox: SandboxProcesses): Promise<Thaw> {
  const stopped: number[] = []
  const letGo = async (): Promise<void> => {
    for (const pid of stopped.splice(0).toReversed()) sendSignal(pid, 'SIGCONT')
  }
  for (let round = 0; round < rounds; round++) {
    const members = (await listMembers(sandbox)).filter((pid) => pid !== sandbox.init && !stopped.includes(pid))
    const moving: number[] = []
    for (const pid of members.toSorted((a, b) => a - b)) if (!(await isStopped(pid))) moving.push(pid)
    if (moving.length === 0) return letGo
    for (const pid of moving) if (sendSignal(pid, 'SIGSTOP')) stopped.push(pid)
  }
  await letGo()
  throw new Error('the processes of the sandbox could not be paused')
}

async function hold(work: Work, { perl, signal }: Helper, otherwise: () => Promise<void>): Promise<Thaw> {
  signal.throwIfAborted()
  const helper = start(perl, work)
  const ended = waitForEnd(helper)
  const letGo = async (): Promise<void> => {
    helper.stdin?.end()
    if ((await within(ended, thawTimeoutMs)) === 0) return
    helper.kill('SIGKILL')
    await otherwise()
  }
  const frozen = new Promise<void>((resolve, reject) => {
    helper.stdout?.once('data', () => resolve())
    void ended.then((end) => reject(new Error(end === 0 ? 'the helper exited early' : String(end))))
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  try {
    await within(frozen, freezeTimeoutMs)
    return letGo
  } catch (error) {
    await letGo().catch(() => {}) // may already be thawed
    throw error
  }
}

async function run(perl: string, work: Work): Promise<void> {
  const helper = start(perl, work)
  helper.stdin?.end()
  const end = await within(waitForEnd(helper), thawTimeoutMs)
  if (end !== 0) throw new Error(String(end))
}

/** Starts the helper detached, so that signals that end Steward do not end it. */
function start(perl: string, work: Work): ChildProcess {
  const helper = spawn(perl, ['-e', buildPerlScript('hold'), formatPerlArgument(work)], {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  helper.stdin?.on('error', () => {}) // already exited, `ending` has the reason
  return helper
}

/** @returns 0, or the error output */
function waitForEnd(helper: ChildProcess): Promise<0 | string> {
  let complaint = ''
  helper.stderr?.on('data', (bytes: Buffer) => {
    complaint += bytes.toString('utf8')
  })
  return new Promise((resolve) => {
    helper.once('error', (error) => resolve(String(error)))
    helper.once('close', (code) => resolve(code === 0 ? 0 : complaint.trim() || 'the helper was killed'))
  })
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`timed out after ${ms} ms`)), ms)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
