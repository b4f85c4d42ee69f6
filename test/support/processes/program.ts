import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { until } from '../assertions/eventually.ts'
import { projectFolder } from '../fixtures/testProject.ts'

/** Steward process, started from the sources or with a script. */
export type Program = {
  pid: number
  stdout(): string
  stderr(): string
  /** Parses the first complete line of output as JSON. */
  ready<T>(): Promise<T>
  end(signal: NodeJS.Signals): Promise<Ended>
  ended: Promise<Ended>
}
export type Ended = { code: number | null; signal: NodeJS.Signals | null }

const startDeadlineMs = 150_000

/** Starts a program that is killed at the end of the test if it is still running. */
export function startProgram(script: string, parts: readonly string[], environment: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(process.execPath, [script, ...parts], {
    cwd: projectFolder,
    env: { ...withoutOwn(process.env), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const program = createProgram(child, script)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await program.ended
  })
  return program
}

/** Command line as typed into a shell. */
export type Command = Program & {
  write(text: string): void
  endInput(): void
  /** Simulates Ctrl-C: every process of the command receives SIGINT. */
  interrupt(): void
}

/** Runs a command line in the project's folder. All of its processes are killed at the end of the test. */
export function startCommand(line: string, environment: NodeJS.ProcessEnv = {}, cwd: string = projectFolder): Command {
  const child = spawn('sh', ['-c', line], {
    ...{ cwd, detached: true, stdio: 'pipe' },
    env: { ...withoutOwn(process.env), ...environment },
  })
  const signal = (name: NodeJS.Signals) => {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
  onTestFinished(() => signal('SIGKILL'))
  return {
    ...createProgram(child, line),
    write: (text) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    interrupt: () => signal('SIGINT'),
  }
}

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>

function createProgram(child: Child, name: string): Program {
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (bytes: Buffer) => {
    stdout += bytes.toString()
  })
  child.stderr.on('data', (bytes: Buffer) => {
    stderr += bytes.toString()
  })
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal }))
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    async ready<T>() {
      const line = await until(
        `${name} is ready`,
        () => {
          if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}: ${stderr}`)
          return stdout.includes('\n') && stdout.slice(0, stdout.indexOf('\n'))
        },
        startDeadlineMs,
      )
      return JSON.parse(line) as T // the tests validate the fields they use
    },
    end(signal) {
      child.kill(signal)
      return ended
    },
    ended,
  }
}

/** Removes the developer's settings and display, so that they do not affect the tested program. */
function withoutOwn(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isSetting = ([name]: [string, unknown]) => name.startsWith('STEWARD_') && !name.startsWith('STEWARD_TEST_')
  const display = ['DISPLAY', 'WAYLAND_DISPLAY']
  return Object.fromEntries(
    Object.entries(environment).filter((entry) => !isSetting(entry) && !display.includes(entry[0])),
  )
}
