/**
 * `npm start`: builds if sources changed, then opens Steward in its window, or in the browser if no window is possible.
 */
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { readStartOptions, type StartOptions, startLine } from '#config/startOptions.ts'
import { exitCodes, formatCommandError, formatHelp, toExitCode } from '#platform/program/commandLine.ts'
import { version } from '#platform/program/version.ts'
import { isBuilt } from './buildState.ts'
import { fetchElectron, findElectronBinary, findWindowObstacle } from './electronBinary.ts'

const root = resolve(import.meta.dirname, '..')
const parts = process.argv.slice(2)

try {
  process.exitCode = await run(readStartOptions(parts, process.env))
} catch (error) {
  process.stderr.write(formatCommandError(error))
  process.exitCode = toExitCode(error)
}

async function run(options: StartOptions): Promise<number> {
  switch (options.command) {
    case 'help':
      process.stdout.write(formatHelp(startLine))
      return 0
    case 'version':
      process.stdout.write(`${version}\n`)
      return 0
    case 'doctor':
      return (await import('#commands/doctor.ts')).runDoctor(options, process.env, windowFault())
    case 'stop':
      return (await import('#commands/stop.ts')).runStop(options)
    case 'image':
      return (await import('#commands/imageCommand.ts')).runImage(options)
    case 'rdap':
      return (await import('#commands/rdapCommand.ts')).runRdap(options)
    case 'verify':
      return (await import('#commands/verifyCommand.ts')).runVerify(options)
    case 'backup':
      return (await import('#commands/backupCommand.ts')).runBackup(options)
    case 'restore':
      return (await import('#commands/backupCommand.ts')).runRestore(options)
    case 'start':
      if (!isBuilt(root)) await (await import('./buildIfStale.ts')).buildIfStale()
      return start(options)
  }
}

async function start(options: StartOptions): Promise<number> {
  const why = options.browser ? undefined : await openWindow()
  if (typeof why === 'number') return why
  if (why !== undefined) process.stderr.write(`No window: ${why}. Steward opens in the browser instead.\n`)
  return headless(options)
}

/** @returns the exit status of the window process, or the reason why there is no window */
async function openWindow(): Promise<number | string> {
  const why = findWindowObstacle(sandbox())
  if (why !== undefined) return why
  const binary = findElectronBinary(process.env) ?? fetchElectron(process.env)
  if (binary === undefined) return 'Electron is not installed and could not be downloaded'
  return runElectron(binary)
}

function windowFault(): string | undefined {
  const missing = findElectronBinary(process.env) === undefined
  return (
    findWindowObstacle(sandbox()) ?? (missing ? 'Electron is not installed; the next start downloads it' : undefined)
  )
}

function sandbox() {
  return { platform: process.platform, uid: process.getuid?.(), environment: process.env }
}

/**
 * Runs Electron until it exits. If it exits before its first line on stdout and without a Steward error, no window is
 * possible.
 */
function runElectron(binary: string): Promise<number | string> {
  return new Promise((done) => {
    const child = spawn(binary, [resolve(root, 'out', 'main', 'main.js'), ...parts], {
      cwd: root,
      stdio: ['inherit', 'pipe', 'inherit'],
    })
    let isUp = false
    child.stdout.on('data', (bytes: Buffer) => {
      isUp = true
      process.stdout.write(bytes)
    })
    // npm and the terminal send these signals to both processes. The window process decides how to react.
    const handOn = (signal: NodeJS.Signals) => child.kill(signal)
    process.on('SIGTERM', handOn).on('SIGINT', handOn).on('SIGHUP', handOn)
    child.once('error', (error) => done(`Electron could not start (${error.message})`))
    child.once('close', (code, signal) => {
      process.off('SIGTERM', handOn).off('SIGINT', handOn).off('SIGHUP', handOn)
      const ours = isUp || code === 0 || code === exitCodes.usage || code === exitCodes.failed
      done(ours ? (code ?? exitCodes.failed) : `Electron exited during startup (${signal ?? `exit code ${code}`})`)
    })
  })
}

/** Runs the built program in this process, because it starts faster than the sources. */
async function headless(options: StartOptions): Promise<number> {
  const built = resolve(root, 'out', 'main', 'headless.js')
  const { runHeadless } = (await import(built)) as typeof import('#entries/headless.ts')
  return runHeadless(options, process.env)
}
