import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { AppError } from '../../../../shared/appError.ts'
import { enterScript } from './enterScript.ts'
import { seccompFilter } from './seccompFilter.ts'
import { systemCalls } from './systemCalls.ts'

/** How to get into one running machine. */
export type Entrance = {
  perl: string
  /** PID 1 of the machine, as the host counts. */
  init: number
  /** Whom the machine's root is on the host; undefined: the user that Steward runs as. */
  uid: number | undefined
  /** Open files of the machine's cgroups: a process that writes 0 to each of them is in. */
  cgroupFiles: readonly number[]
  /** Most processes where no cgroup limits them, else 0. */
  processes: number
}

export type EnterMode = 'exec' | 'terminal' | 'connect' | 'write' | 'read' | 'list'

export type Ending =
  /** `status` is what wait(2) says. */
  | { kind: 'ended'; status: number }
  /** The command was not run, or the file not reached. */
  | { kind: 'failed'; stage: string; errno: number }
  | { kind: 'lost'; detail: string }

export type Entered = {
  /** Ended already, but for a terminal and a connection. */
  input: Writable
  stdout: Readable
  stderr: Readable
  /** Resolves when the command runs or the port is reached, with a process number of the host; else undefined. */
  started: Promise<number | undefined>
  /** Resolves after both streams have ended. Never rejects. */
  ending: Promise<Ending>
  /** Kills the command's process group, also when it has yet to start. */
  kill(): void
  /** Lets go of the terminal: the kernel tells its session. */
  hangUp(): void
}

type EnterRequest = {
  mode: EnterMode
  /** Each is sent with a NUL after it. */
  fields: readonly string[]
  content?: Uint8Array
  pseudoTerminal?: { master: number; number: number }
}

/** Linux capabilities of a usual container; the numbers are those of capability(7). */
const keptCapabilities = [
  0, // CHOWN
  1, // DAC_OVERRIDE
  3, // FOWNER
  4, // FSETID
  5, // KILL
  6, // SETGID
  7, // SETUID
  8, // SETPCAP
  10, // NET_BIND_SERVICE
  13, // NET_RAW
  18, // SYS_CHROOT
  29, // AUDIT_WRITE
  31, // SETFCAP
]
const keep = keptCapabilities.reduce((mask, capability) => mask | (1n << BigInt(capability)), 0n).toString()

/** After a kill the rest of the output is read this long before the helper itself is ended. */
const killDeadlineMs = 5_000
const detailBytes = 2_000
const hostEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' }

export function enter(entrance: Entrance, { mode, fields, content, pseudoTerminal }: EnterRequest): Entered {
  const calls = systemCalls()
  if (!calls) throw new AppError('runtime/unavailable', `Sandboxes do not run on ${process.arch}.`)
  const script = [
    enterScript,
    mode,
    String(entrance.init),
    calls.enter,
    keep,
    String(entrance.processes),
    String(entrance.cgroupFiles.length),
    String(pseudoTerminal?.number ?? ''),
    seccompFilter(calls),
  ]
  const child = spawn(entrance.perl, ['-e', ...script], {
    cwd: '/',
    env: hostEnvironment,
    detached: true,
    stdio: [
      'pipe',
      'pipe',
      'pipe',
      'pipe',
      ...entrance.cgroupFiles,
      ...(pseudoTerminal ? [pseudoTerminal.master] : []),
    ],
    ...(entrance.uid !== undefined && { uid: entrance.uid, gid: entrance.uid }),
  })
  if (child.pid === undefined) {
    child.once('error', () => {}) // the code would only say that a limit of this machine is reached
    throw new AppError('exec/failed', 'This machine cannot start another process.')
  }
  const [stdin, stdout, stderr, status] = child.stdio
  if (!stdin || !stdout || !stderr || !status || !('read' in status)) throw new Error('spawn made no pipes.')
  stdin.on('error', () => {}) // It ended before it read everything: `ending` tells why.
  const runsCommand = mode === 'exec' || mode === 'terminal'
  const all = runsCommand ? [String(fields.length), ...fields] : fields
  stdin.write(all.map((field) => `${field}\0`).join(''))
  if (mode !== 'terminal' && mode !== 'connect') stdin.end(content)

  let pid: number | undefined
  const started = Promise.withResolvers<number | undefined>()
  let killed = false
  let over = false
  let failed: Ending | undefined
  let ended: Ending | undefined
  let detail = ''
  let deadline: NodeJS.Timeout | undefined

  const hear = (line: string): void => {
    const [word, first = '', second = ''] = line.split(' ')
    if (word === 'p') {
      pid = Number(first)
      if (killed) killGroup(pid)
      started.resolve(failed ? undefined : pid)
    } else if (word === 'e') failed ??= { kind: 'failed', stage: first, errno: Number(second) }
    else if (word === 'x') ended = { kind: 'ended', status: Number(first) }
  }
  readLines(status, hear)
  stderr.on('data', (bytes: Buffer) => {
    if (detail.length < detailBytes && pid === undefined) detail += bytes.toString('utf8')
  })

  const ending = new Promise<Ending>((resolve) => {
    const finish = (): void => {
      over = true
      clearTimeout(deadline)
      started.resolve(undefined)
      resolve(failed ?? ended ?? { kind: 'lost', detail: detail.trim() })
    }
    child.once('close', finish)
  })

  return {
    input: stdin,
    stdout: stdout as Readable, // 'pipe' in the parent is readable
    stderr: stderr as Readable,
    started: started.promise,
    ending,
    hangUp: () => void stdin.end(),
    kill() {
      if (killed || over) return
      killed = true
      if (pid !== undefined && !ended) killGroup(pid)
      if (!runsCommand) child.kill('SIGKILL')
      deadline = setTimeout(() => abandon(child), killDeadlineMs)
    },
  }
}

/** Calls back once per whole line. */
function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let held = ''
  stream.on('data', (bytes: Buffer) => {
    const lines = (held + bytes.toString('latin1')).split('\n')
    held = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // It has ended by itself in the meantime.
  }
}

function abandon(child: ChildProcess): void {
  child.kill('SIGKILL')
  for (const stream of child.stdio) stream?.destroy()
}
