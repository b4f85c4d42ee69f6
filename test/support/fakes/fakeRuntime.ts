import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, readdirSync, readSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ReadStream } from 'node:tty'
import { createTerminalInput } from '#host/runtimes/bubblewrap/terminalInput.ts'
import type {
  SandboxInstance,
  SandboxRuntime,
  SandboxTerminal,
  TerminalRequest,
} from '#host/runtimes/sandboxRuntime.ts'
import { AppError } from '#shared/appError.ts'
import { SandboxId } from '#shared/ids.ts'

/** Part of node-pty's native module that opens a pseudo-terminal pair without a program. */
type NativePty = {
  open(cols: number, rows: number): { master: number; slave: number }
  resize(master: number, cols: number, rows: number): void
}

const native: NativePty = createRequire(import.meta.url)(
  `@lydell/node-pty-${process.platform}-${process.arch}/pty.node`,
)
const everything = { memory: false, cpu: false, disk: false, processes: false }

type FakeRuntimeOptions = {
  /** Folder with the state of existing sandboxes. */
  folder: string
  startMs?: number
}
/** `end` simulates a sandbox killed from outside. */
export type FakeRuntime = SandboxRuntime & { end(id: SandboxId): void }

/**
 * Creates a runtime whose "sandboxes" are plain programs on the host with real pseudo-terminals. For tests of the host
 * around a runtime. Isolation has separate tests.
 */
export function createFakeRuntime({ folder, startMs }: FakeRuntimeOptions): FakeRuntime {
  mkdirSync(folder, { recursive: true })
  const running = new Map<SandboxId, FakeSandbox>()

  const start = async (id: SandboxId, signal: AbortSignal): Promise<SandboxInstance> => {
    if (startMs !== undefined) await pause(startMs, signal)
    const sandbox = createFakeSandbox(id)
    running.set(id, sandbox)
    return sandbox
  }

  return {
    name: 'local',
    describe: async () => ({
      name: 'local',
      available: true,
      detail: 'Programs of the tests.',
      enforced: everything,
      networks: ['none'],
      network_detail: null,
      network_cure: null,
      cure: null,
      limit_gaps: [],
      image_sources: [],
      image_detail: null,
    }),
    async create({ id }, signal) {
      const instance = await start(id, signal)
      mkdirSync(join(folder, id))
      return instance
    },
    async start({ id }, signal) {
      if (!existsSync(join(folder, id))) throw new AppError('sandbox/not-found', 'It has no files.')
      return start(id, signal)
    },
    async remove(id) {
      rmSync(join(folder, id), { recursive: true, force: true })
    },
    listStored: async () => readdirSync(folder).map((name) => SandboxId.parse(name)),
    sweep: async () => {},
    async snapshot() {
      throw new AppError('snapshot/failed', 'A local machine has terminals only.')
    },
    async restore() {
      throw new AppError('snapshot/failed', 'A local machine has terminals only.')
    },
    listSnapshots: async () => [],
    async removeSnapshot() {},
    images: {
      list: async () => [],
      async add() {
        throw new AppError('image/source', 'A local machine has no images.')
      },
      async remove() {},
    },
    close: async () => {},
    end: (id) => running.get(id)?.vanish(),
  }
}

type FakeSandbox = SandboxInstance & { vanish(): void }

function createFakeSandbox(id: SandboxId): FakeSandbox {
  const open = new Set<SandboxTerminal & { kill(): void }>()
  const over = Promise.withResolvers<string>()
  const killAll = async (): Promise<void> => {
    for (const terminal of open) terminal.kill()
    await Promise.all([...open].map((terminal) => terminal.ended))
  }
  const unsupportedMethod = async (): Promise<never> => {
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
    exec: unsupportedMethod,
    usage: unsupportedMethod,
    processes: unsupportedMethod,
    signal: unsupportedMethod,
    listeningPorts: unsupportedMethod,
    writeFile: unsupportedMethod,
    readFile: unsupportedMethod,
    files: {
      stat: unsupportedMethod,
      readRange: unsupportedMethod,
      writeRange: unsupportedMethod,
      makeFolder: unsupportedMethod,
      move: unsupportedMethod,
      copy: unsupportedMethod,
      remove: unsupportedMethod,
      archive: unsupportedMethod,
    },
    listFiles: unsupportedMethod,
    connect: unsupportedMethod,
  }
}

function localTerminal({ command, cols, rows, env }: TerminalRequest): SandboxTerminal & { kill(): void } {
  const { master, slave } = native.open(cols, rows)
  const program = spawn('setsid', ['--ctty', '/bin/bash', '-c', command], {
    stdio: [slave, slave, slave],
    cwd: '/tmp',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
  })
  closeSync(slave)
  const stream = new ReadStream(master).pause()
  const input = createTerminalInput(master, () => !stream.destroyed)
  let listener: (bytes: Buffer) => void = () => {}
  let received = 0
  let paused = false
  /** Resolves as soon as a program listens, or is known never to. */
  const heard = Promise.withResolvers<void>()
  stream.on('data', (bytes: Buffer) => {
    received += bytes.length
    listener(bytes)
  })
  const closed = new Promise<void>((resolve) => {
    // EIO means that the other end is closed.
    stream.on('error', () => stream.destroy())
    stream.once('end', () => {
      // The event loop treats a hang-up as the end of the stream, even if the kernel still buffers output.
      for (const bytes of readRest(master)) listener(bytes)
      stream.destroy()
    })
    stream.once('close', resolve)
  })
  const exited = new Promise<{ exitCode: number | null; signal: string | null }>((resolve, reject) => {
    program.once('error', reject)
    program.once('exit', (exitCode, signal) =>
      resolve({ exitCode: signal === null ? exitCode : 128 + constants.signals[signal], signal }),
    )
  })
  /** A background program can keep the terminal open. Silence then indicates that all output was read. */
  const waitUntilDrained = async (): Promise<void> => {
    for (let before = -1; before !== received || paused; ) {
      before = received
      // Waits one more event loop turn after the timeout, because under load received data may still be unread.
      const silence = pause(100).then(() => nextTurn(false))
      const isClosed = await Promise.race([closed.then(() => true), silence])
      if (isClosed) return
    }
  }
  return {
    onOutput(added) {
      listener = added
      stream.resume()
      heard.resolve()
    },
    write: input.write,
    answer: input.answer,
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
    close() {
      heard.resolve()
      killSession(program, 'SIGHUP')
    },
    kill() {
      heard.resolve()
      killSession(program, 'SIGKILL')
    },
    ended: exited.then(async (ending) => {
      await heard.promise
      await waitUntilDrained()
      input.close()
      stream.destroy()
      return ending
    }),
  }
}

function readRest(master: number): Buffer[] {
  const rest: Buffer[] = []
  for (;;) {
    const bytes = Buffer.alloc(64 * 1024)
    try {
      rest.push(bytes.subarray(0, readSync(master, bytes)))
    } catch {
      return rest
    }
  }
}

function killSession(program: ChildProcess, signal: NodeJS.Signals): void {
  if (program.pid === undefined) return
  const pkill = spawn('pkill', [`-${signal.slice(3)}`, '-s', String(program.pid)], { stdio: 'ignore' })
  pkill.once('exit', (code) => {
    if (code !== 0) program.kill(signal) // it may not have a session yet
  })
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
