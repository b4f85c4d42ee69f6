import { open, readFile } from 'node:fs/promises'
import { AppError } from '#shared/appError.ts'
import { maxProcesses, type ProcessSignal } from '#shared/contract/processes.ts'
import type { SandboxProcess } from '../sandboxRuntime.ts'
import { markProcess, readProcess, sendSignal } from './processTable.ts'
import { listMembers, type SandboxProcesses } from './sandboxMembers.ts'

/** USER_HZ, which is 100 on every supported architecture. See time(7). */
const msPerTick = 10
const commandCharacters = 1024
/** Maximum size of arguments to read, which may be several megabytes. Exceeds the displayed length. */
const commandBytes = 4096
const readConcurrency = 64

/** @param userNames reads the sandbox's user names. Called only if a process does not run as root */
export async function listSandboxProcesses(
  sandbox: SandboxProcesses,
  userNames: () => Promise<ReadonlyMap<number, string>>,
): Promise<SandboxProcess[]> {
  const members = (await listMembers(sandbox)).slice(0, maxProcesses)
  const [bootMs, users] = await Promise.all([readBootTimeMs(), createUserMap(sandbox.init)])
  const inner = new Map<number, number>()
  const look = async (host: number) => {
    const [row, status, command] = await Promise.all([
      readProcess(host),
      readFile(`/proc/${host}/status`, 'latin1').catch(() => ''),
      readBeginning(`/proc/${host}/cmdline`).catch(() => ''),
    ])
    const pid = parseInnerPid(status)
    if (!row || pid === undefined) return [] // the process has exited
    inner.set(host, pid)
    return [{ pid, row, status, command: formatCommandLine(command, status) }]
  }
  const present: Awaited<ReturnType<typeof look>> = []
  for (let offset = 0; offset < members.length; offset += readConcurrency) {
    present.push(...(await Promise.all(members.slice(offset, offset + readConcurrency).map(look))).flat())
  }
  const toUid = (status: string) => users(Number(findField(status, 'Uid')?.split(/\s+/)[0]))
  const names = present.some(({ status }) => toUid(status) !== 0) ? await userNames() : new Map<number, string>()
  return present.map(({ pid, row, status, command }) => {
    const uid = toUid(status)
    return {
      pid,
      ppid: inner.get(Number(findField(status, 'PPid'))) ?? 0,
      user: uid === undefined ? '?' : (names.get(uid) ?? (uid === 0 ? 'root' : String(uid))),
      cpuMs: row.cpuTicks * msPerTick,
      memoryBytes: (Number.parseInt(findField(status, 'VmRSS') ?? '', 10) || 0) * 1024,
      command,
      startedAtMs: Math.round(bootMs + row.startedTicks * msPerTick),
    }
  })
}

/** @throws AppError `process/not-found` */
export async function signalSandboxProcess(
  instance: SandboxProcesses,
  { pid, signal }: { pid: number; signal: ProcessSignal },
): Promise<void> {
  if (pid !== 1) {
    for (const host of await listMembers(instance)) {
      const mark = await markProcess(host)
      if (
        host === instance.init ||
        parseInnerPid(await readFile(`/proc/${host}/status`, 'latin1').catch(() => '')) !== pid
      )
        continue
      // Ensures that the PID was not reused since the process was found in the sandbox.
      if (mark === undefined || (await markProcess(host))?.startedTicks !== mark.startedTicks) break
      if (sendSignal(host, signal)) return
    }
  }
  throw new AppError('process/not-found', `This sandbox has no process ${pid} that can receive a signal.`)
}

export function parseUserNames(passwd: string): Map<number, string> {
  const rows = passwd.split('\n').map((line) => line.split(':'))
  return new Map(rows.flatMap(([name, , uid]) => (name && uid && /^\d+$/.test(uid) ? [[Number(uid), name]] : [])))
}

/** Parses `NSpid`, which lists one PID per PID namespace, innermost last. */
function parseInnerPid(status: string): number | undefined {
  const pid = Number(findField(status, 'NSpid')?.split(/\s+/).at(-1))
  return Number.isInteger(pid) && pid > 0 ? pid : undefined
}

function findField(status: string, name: string): string | undefined {
  return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1]
}

function formatCommandLine(commandText: string, status: string): string {
  // Normalizes the command to one line of text, because programs control it.
  const text = commandText.replace(/\p{Cc}+/gu, ' ').trim()
  const visible = (text === '' ? `[${findField(status, 'Name') ?? ''}]` : text).slice(0, commandCharacters)
  return Buffer.from(visible).toString() // copies the string, because a substring would retain the whole
}

async function readBeginning(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(commandBytes), 0, commandBytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Returns a function that maps host uids to uids of the sandbox. @see user_namespaces(7) */
async function createUserMap(init: number): Promise<(uid: number) => number | undefined> {
  const rows = (await readFile(`/proc/${init}/uid_map`, 'latin1')).trim().split('\n')
  const ranges = rows.map((line) => line.trim().split(/\s+/).map(Number))
  return (uid) => {
    for (const [inside = 0, outside = 0, count = 0] of ranges) {
      if (uid >= outside && uid < outside + count) return uid - outside + inside
    }
    return undefined
  }
}

async function readBootTimeMs(): Promise<number> {
  const line = /^btime (\d+)$/m.exec(await readFile('/proc/stat', 'latin1'))
  return Number(line?.[1] ?? 0) * 1000
}
