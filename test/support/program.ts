import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { until } from './eventually.ts'
import { projectFolder } from './plantedTree.ts'

/** A program of Steward as a process of its own, run from its sources or by its script. */
export type Program = {
  pid: number
  stdout(): string
  stderr(): string
  /** The first line it prints, once it is whole, as JSON. */
  ready<T>(): Promise<T>
  end(signal: NodeJS.Signals): Promise<Ended>
  ended: Promise<Ended>
}
export type Ended = { code: number | null; signal: NodeJS.Signals | null }

const startDeadlineMs = 150_000

/** It is killed at the end of the test if it still runs. */
export function startProgram(script: string, parts: readonly string[], environment: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(process.execPath, [script, ...parts], {
    cwd: projectFolder,
    env: { ...withoutOwn(process.env), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (bytes: Buffer) => {
    stdout += bytes.toString()
  })
  child.stderr.on('data', (bytes: Buffer) => {
    stderr += bytes.toString()
  })
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal }))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    async ready<T>() {
      const line = await until(
        `${script} is ready`,
        () => {
          if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}: ${stderr}`)
          return stdout.includes('\n') && stdout.slice(0, stdout.indexOf('\n'))
        },
        startDeadlineMs,
      )
      return JSON.parse(line) as T // the tests look at what matters of it
    },
    end(signal) {
      child.kill(signal)
      return ended
    },
    ended,
  }
}

/** A person's own settings must not reach what is tested, nor a display that they happen to have. */
function withoutOwn(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = ([name]: [string, unknown]) => name.startsWith('STEWARD_') && !name.startsWith('STEWARD_TEST_')
  const display = ['DISPLAY', 'WAYLAND_DISPLAY']
  return Object.fromEntries(Object.entries(environment).filter((it) => !own(it) && !display.includes(it[0])))
}
