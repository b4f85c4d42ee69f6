import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { ReadStream } from 'node:tty'
import type {
  Machine,
  MachineTerminal,
  SandboxRuntime,
  TerminalRequest,
} from '../../src/main/host/runtimes/sandboxRuntime.ts'
import { AppError } from '../../src/shared/appError.ts'
import type { SandboxId } from '../../src/shared/ids.ts'

/** The part of node-pty's native module that makes a pair of ends, without a program. */
type NativePty = {
  open(cols: number, rows: number): { master: number; slave: number }
  resize(master: number, cols: number, rows: number): void
}

const native: NativePty = createRequire(import.meta.url)(
  `@lydell/node-pty-${process.platform}-${process.arch}/pty.node`,
)
const everything = { memory: false, cpu: false, disk: false, processes: false }

/**
 * "Machines" that are programs on the test's own machine, with real pseudo-terminals: for what the host does
 * around a runtime. Isolation has its own tests.
 */
export function localRuntime(options: { startMs?: number } = {}): SandboxRuntime & { end(id: SandboxId): void } {
  const stored = new Set<SandboxId>()
  const running = new Map<SandboxId, LocalMachine>()

  const start = async (id: SandboxId, signal: AbortSignal): Promise<Machine> => {
    if (options.startMs) await pause(options.startMs, signal)
    const machine = localMachine(id)
    running.set(id, machine)
    return machine
  }

  return {
    name: 'local',
    describe: async () => ({
      name: 'local',
      available: true,
      detail: 'Programs of the tests.',
      enforced: everything,
    }),
    async create({ id }, signal) {
      const machine = await start(id, signal)
      stored.add(id)
      return machine
    },
    async start({ id }, signal) {
      if (!stored.has(id)) throw new AppError('sandbox/not-found', 'It has no files.')
      return start(id, signal)
    },
    async remove(id) {
      stored.delete(id)
    },
    stored: async () => [...stored],
    sweep: async () => {},
    end: (id) => running.get(id)?.vanish(),
  }
}

type LocalMachine = Machine & { vanish(): void }

function localMachine(id: SandboxId): LocalMachine {
  const open = new Set<MachineTerminal & { kill(): void }>()
  const over = Promise.withResolvers<string>()
  const killAll = async (): Promise<void> => {
    for (const terminal of open) terminal.kill()
    await Promise.all([...open].map((terminal) => terminal.ended))
  }
  const unsupported = async (): Promise<never> => {
    throw new AppError('internal/unexpected', 'A local machine has terminals only.')
  }
  return {
    id,
    startedAtMs: Date.now(),
    enforced: everything,
    ended: over.promise,
    async stop() {
      await killAll()
      over.resolve('It was stopped.')
    },
    vanish() {
      over.resolve('Its init was killed.')
      void killAll()
    },
    async openTerminal(request) {
      const terminal = localTerminal(request)
      open.add(terminal)
      void terminal.ended.then(() => open.delete(terminal))
      return terminal
    },
    exec: unsupported,
    writeFile: unsupported,
    readFile: unsupported,
    listFiles: unsupported,
  }
}

function localTerminal({ command, cols, rows, env }: TerminalRequest): MachineTerminal & { kill(): void } {
  const { master, slave } = native.open(cols, rows)
  const program = spawn('setsid', ['--ctty', '/bin/bash', '-c', command], {
    stdio: [slave, slave, slave],
    cwd: '/tmp',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
  })
  closeSync(slave)
  const stream = new ReadStream(master).pause()
  let listener: (bytes: Buffer) => void = () => {}
  let received = 0
  let paused = false
  stream.on('data', (bytes: Buffer) => {
    received += bytes.length
    listener(bytes)
  })
  const closed = new Promise<void>((resolve) => {
    // EIO says that nobody holds the other end any more.
    stream.on('error', () => stream.destroy())
    stream.once('end', () => stream.destroy())
    stream.once('close', resolve)
  })
  const exited = new Promise<{ exitCode: number | null; signal: string | null }>((resolve, reject) => {
    program.once('error', reject)
    program.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  /** A program that stays in the background holds the terminal open: then silence tells that all was read. */
  const drained = async (): Promise<void> => {
    for (let before = -1; before !== received || paused; ) {
      before = received
      const gone = await Promise.race([closed.then(() => true), pause(100).then(() => false)])
      if (gone) return
    }
  }
  return {
    onOutput(added) {
      listener = added
      stream.resume()
    },
    write: (bytes) => void (stream.destroyed || stream.write(bytes)),
    resize(newCols, newRows) {
      if (!stream.destroyed) native.resize(master, newCols, newRows)
    },
    pause() {
      paused = true
      stream.pause()
    },
    resume() {
      paused = false
      stream.resume()
    },
    close: () => killSession(program.pid, 'SIGHUP'),
    kill: () => killSession(program.pid, 'SIGKILL'),
    ended: exited.then(async (ending) => {
      await drained()
      stream.destroy()
      return ending
    }),
  }
}

function killSession(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  spawn('pkill', [`-${signal.slice(3)}`, '-s', String(pid)], { stdio: 'ignore' })
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
