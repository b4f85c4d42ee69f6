import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from '../assertions/eventually.ts'
import { isAlive } from '../assertions/processes.ts'
import { temporaryFolder } from '../fixtures/temporaryFolder.ts'
import { projectFolder } from '../fixtures/testProject.ts'

/** Steward as a user starts it, shown in the browser. */
export type Steward = {
  /** URL with the one-time token after `#`. */
  url: string
  serviceUrl: string
  dataFolder: string
  /** Owner's key of the service that this process runs. */
  readonly ownerKey: string
  /** Returns all printed output. */
  output(): string
  pids(): { main: number; service: number; host: number }
  /** Stops main and the host that outlives it. Resolves when both have exited. */
  close(): Promise<void>
}

type Ready = { event: 'ready'; url: string; service_url: string }

/** Arguments of Node.js in `npm start`. */
function readStartCommand(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'))
  return scripts.start.split(' ').slice(1)
}

const startDeadlineMs = 150_000
/** Long, because shutdown stops every sandbox that a test left running. */
const endDeadlineMs = 120_000

type Options = {
  dataFolder?: string
  /** Node.js arguments of the program. Default: those of `npm start`. */
  program?: readonly string[]
  parts?: readonly string[]
  /** Owner's key of the configured service. */
  ownerKey?: string
  /** Content of `config.json` in the data folder. */
  config?: object
}

export async function startSteward(options: Options = {}): Promise<Steward> {
  const dataFolder = options.dataFolder ?? temporaryFolder('data')
  if (options.config) writeFileSync(join(dataFolder, 'config.json'), JSON.stringify(options.config))
  const program = options.program ?? [...readStartCommand(), '--browser']
  const parts = ['--no-open', '--json', '--data', dataFolder, ...(options.parts ?? [])]
  const child = spawn(process.execPath, [...program, ...parts], {
    cwd: projectFolder,
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => {
    said += bytes.toString()
  })
  child.stdout.on('data', (bytes: Buffer) => {
    said += bytes.toString()
  })
  try {
    const ready = await readyLine(child, () => said.slice(-4000))
    return {
      url: ready.url,
      serviceUrl: ready.service_url,
      dataFolder,
      get ownerKey() {
        return options.ownerKey ?? readFileSync(join(dataFolder, 'owner.key'), 'utf8').trim()
      },
      output: () => said,
      pids: () => ({
        main: findHolder(join(dataFolder, 'steward.lock')),
        service: findHolder(join(dataFolder, 'service.lock')),
        // Read on demand, because the host may still be starting.
        get host() {
          return Number(readFileSync(join(dataFolder, 'host/host.pid'), 'utf8'))
        },
      }),
      close: () => stopAll(child, dataFolder),
    }
  } catch (error) {
    await stopAll(child, dataFolder)
    throw error
  }
}

/** Removes the developer's own settings, so that they do not affect the test. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const isInherited = ([name]: [string, unknown]) => !name.startsWith('STEWARD_') || name.startsWith('STEWARD_TEST_')
  return Object.fromEntries(Object.entries(process.env).filter(isInherited))
}

function readyLine(child: ChildProcess & { stdout: NodeJS.ReadableStream }, said: () => string): Promise<Ready> {
  return new Promise((resolve, reject) => {
    const impatient = setTimeout(() => {
      reject(new Error(`Steward was not ready after ${startDeadlineMs} ms:\n${said()}`))
    }, startDeadlineMs)
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      clearTimeout(impatient)
      reject(new Error(`Steward ended before it was ready (${code ?? signal}):\n${said()}`))
    })
    createInterface(child.stdout).on('line', (line) => {
      if (!line.startsWith('{"event":"ready"')) return
      clearTimeout(impatient)
      resolve(JSON.parse(line) as Ready) // the command line tests assert its fields
    })
  })
}

async function stopAll(child: ChildProcess, dataFolder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }
  const pidFile = join(dataFolder, 'host/host.pid')
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8'))
  if (!isAlive(pid)) return
  process.kill(pid, 'SIGTERM')
  await until('the sandbox host ends', () => !isAlive(pid), endDeadlineMs)
}

function findHolder(lockFile: string): number {
  return (JSON.parse(readFileSync(lockFile, 'utf8')) as { pid: number }).pid
}
