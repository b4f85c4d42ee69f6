import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { AppError } from '../../../../shared/appError.ts'
import { enterScript } from './enterScript.ts'
import { seccompFilter } from './seccompFilter.ts'
import { systemCalls } from './systemCalls.ts'

/** What it takes to get into one machine. */
export type MachineDoor = {
  perl: string
  /** The machine's folder: of Steward alone, never visible inside. */
  folder: string
  /** Whom the machine's root is on the host; undefined: the user that Steward runs as. */
  uid: number | undefined
  /** Open files of the machine's cgroups: a process that writes 0 to each of them is in. */
  cgroupFiles: readonly number[]
  /** Most processes where no cgroup limits them, else 0. */
  processes: number
}

/** The script as a process: it reads who it is for, and more, from its connection. */
export type EnterProcess = {
  child: ChildProcess
  connection: Socket
  /** What it complained about. */
  detail(): string
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

const detailBytes = 2_000
const hostEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' }

/** With a `socket` it becomes a machine's keeper, else it serves one request; a terminal's needs its `master`. */
export function enterProcess(
  door: MachineDoor,
  options: { socket?: string; master?: number | undefined },
): EnterProcess {
  const calls = systemCalls()
  if (!calls) throw new AppError('runtime/unavailable', `Sandboxes do not run on ${process.arch}.`)
  const { socket, master } = options
  const script = [
    enterScript,
    socket ?? '',
    String(process.pid),
    // A socket of its own is made as Steward's user.
    String((socket !== undefined && door.uid) || ''),
    calls.enter,
    keep,
    String(door.processes),
    String(door.cgroupFiles.length),
    master === undefined ? '0' : '1',
    seccompFilter(calls),
  ]
  const child = spawn(door.perl, ['-e', ...script], {
    cwd: socket === undefined ? '/' : door.folder,
    env: hostEnvironment,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...door.cgroupFiles, ...(master === undefined ? [] : [master])],
    ...(socket === undefined && door.uid !== undefined && { uid: door.uid, gid: door.uid }),
  })
  child.on('error', () => {}) // its code would only say that a limit of this machine is reached
  if (child.pid === undefined) throw new AppError('exec/failed', 'This machine cannot start another process.')
  const { stderr } = child
  const connection = child.stdio[3]
  // What Node calls a pipe to a child is a socket, which goes both ways.
  if (!(connection instanceof Socket) || !stderr) throw new Error('spawn made no pipes.')
  let detail = ''
  stderr.on('data', (bytes: Buffer) => {
    if (detail.length < detailBytes) detail += bytes.toString('utf8')
  })
  return { child, connection, detail: () => detail.trim() }
}
