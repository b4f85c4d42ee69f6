import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../logging/log.ts'

/** Keeps one child process running. */
export type ChildSupervisor<Ready> = {
  /**
   * Resolves when the child is first ready. Rejects if `startAttempts` runs exit before that, or if `refuses` matches
   * an exit code.
   */
  readonly started: Promise<Ready>
  /** Kills the current child, which is then restarted. */
  restart(): void
  /** Asks the child to exit, and kills it after a timeout. */
  close(): Promise<void>
}

type Options<Ready> = {
  name: string
  /**
   * Spawns the child. Its stdout must be a pipe. Its stdin must be a pipe too, and the child must exit when it closes.
   */
  spawn: () => ChildProcess
  /** Parses the line on stdout that reports readiness. Returns undefined for any other line. */
  parseReady: (line: string) => Ready | undefined
  onReady: (ready: Ready) => void
  onDown: (reason: string) => void
  /** Whether the exit code means that the child cannot start, so that a retry would fail too. */
  refuses: (exitCode: number | null) => boolean
  now: () => number
  log: Log
  limits?: Partial<SupervisorLimits>
}

export type SupervisorLimits = {
  /** Timeout of the start. A child that exceeds it is killed. */
  readyMs: number
  /** Timeout of an orderly exit. */
  endMs: number
  /** Maximum number of runs that may exit before the child is first ready. */
  startAttempts: number
  firstPauseMs: number
  maxPauseMs: number
  /** Run duration that resets the restart delay. */
  steadyMs: number
}

const defaults: SupervisorLimits = {
  readyMs: 60_000,
  endMs: 15_000,
  startAttempts: 5,
  firstPauseMs: 50,
  maxPauseMs: 5_000,
  steadyMs: 30_000,
}

/** Starts a child and restarts it whenever it exits. The delay doubles each time the child exits early. */
export function superviseChild<Ready>(options: Options<Ready>): ChildSupervisor<Ready> {
  const { name, onDown, now, log } = options
  const limits = { ...defaults, ...options.limits }
  const closing = new AbortController()
  let child: ChildProcess | undefined
  let tellStarted: (ready: Ready) => void = () => {}
  let tellFailed: (error: Error) => void = () => {}
  const started = new Promise<Ready>((resolve, reject) => {
    tellStarted = resolve
    tellFailed = reject
  })
  started.catch(() => {}) // callers that await it handle the error

  const runs = (async () => {
    let pauseMs = limits.firstPauseMs
    let attempts = 0
    while (!closing.signal.aborted) {
      const beganAt = now()
      const run = runChild(options, limits, (ready) => {
        options.onReady(ready)
        tellStarted(ready)
      })
      child = run.child
      const { reason, exitCode } = await run.ended
      attempts++
      if (options.refuses(exitCode) || attempts >= limits.startAttempts) tellFailed(new Error(`${name} ${reason}.`))
      if (closing.signal.aborted) return
      log.warn(`${name} ended`, { reason })
      onDown(`${name} ${reason} and is restarting.`)
      if (now() - beganAt >= limits.steadyMs) pauseMs = limits.firstPauseMs
      await wait(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
      pauseMs = Math.min(pauseMs * 2, limits.maxPauseMs)
    }
  })()

  return {
    started,
    restart: () => void child?.kill('SIGKILL'),
    async close() {
      closing.abort()
      const force = setTimeout(() => child?.kill('SIGKILL'), limits.endMs)
      child?.stdin?.end()
      child?.kill('SIGTERM')
      await runs
      clearTimeout(force)
    },
  }
}

type End = { /** Predicate for a sentence about the child. */ reason: string; exitCode: number | null }

function runChild<Ready>(
  { spawn, parseReady }: Options<Ready>,
  { readyMs }: SupervisorLimits,
  onReady: (ready: Ready) => void,
): { child: ChildProcess; ended: Promise<End> } {
  const child = spawn()
  let fault: string | undefined
  const impatient = setTimeout(() => {
    fault = `was not ready within ${readyMs / 1000} s`
    child.kill('SIGKILL')
  }, readyMs)
  readLines(child, (line) => {
    try {
      const ready = parseReady(line)
      if (ready === undefined) return
      clearTimeout(impatient)
      onReady(ready)
    } catch (error) {
      fault = `sent an invalid ready message (${error instanceof Error ? error.message : String(error)})`
      child.kill('SIGKILL')
    }
  })
  child.stdin?.on('error', () => {}) // the exit is handled by `close`
  const ended = new Promise<End>((resolve) => {
    const end = (reason: string, exitCode: number | null = null) => {
      clearTimeout(impatient)
      resolve({ reason, exitCode })
    }
    child.once('error', (error) => end(`could not be started (${error.message})`))
    child.once('close', (code, signal) => {
      end(fault ?? (signal === null ? `exited with code ${code}` : `was killed by ${signal}`), code)
    })
  })
  return { child, ended }
}

function readLines({ stdout }: ChildProcess, onLine: (line: string) => void): void {
  let rest = ''
  stdout?.setEncoding('utf8')
  stdout?.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
}
