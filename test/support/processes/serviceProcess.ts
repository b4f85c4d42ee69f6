import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from '../assertions/eventually.ts'
import { isAlive } from '../assertions/processes.ts'
import { temporaryFolder } from '../fixtures/temporaryFolder.ts'
import { projectFolder } from '../fixtures/testProject.ts'
import { type Answer, exchange, type RequestFields } from './runningService.ts'

/** `npm run service` as a process, with the host process that it starts. */
export type ServiceProcess = {
  readonly url: string
  readonly key: string
  readonly dataDir: string
  send(path: string, fields?: RequestFields): Promise<Answer>
  pid(): number
  hostPid(): number
  /** Ends the service with this signal and restarts it on the same folder. */
  restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  killHost(): Promise<void>
  close(): Promise<void>
}

type Ready = { url: string; owner_key_file: string }

const readyWithinMs = 120_000
/** Long, because shutdown stops every sandbox that a test left running. */
const endWithinMs = 120_000

export type From = { folder: string; program: string }
const sources: From = { folder: projectFolder, program: 'src/main/entries/service.ts' }

/**
 * @param from location of the program. Defaults to the project's sources
 * @param config content of `config.json`
 * @param dataDir data folder. Defaults to a new one
 */
export async function createServiceProcess(
  from: From = sources,
  config?: object,
  dataDir: string = temporaryFolder('service-process'),
): Promise<ServiceProcess> {
  if (config) writeFileSync(join(dataDir, 'config.json'), JSON.stringify(config))
  const pidFile = join(dataDir, 'host/host.pid')
  let child = start(from, dataDir)
  let ready = await readReady(child)
  const key = readFileSync(ready.owner_key_file, 'utf8').trim()

  const hostPid = () => Number(readFileSync(pidFile, 'utf8'))
  const endHost = async (signal: NodeJS.Signals): Promise<void> => {
    const pid = hostPid()
    process.kill(pid, signal)
    await until('the host process to end', () => !isAlive(pid), endWithinMs)
  }

  return {
    key,
    dataDir,
    pid: () => child.pid ?? 0,
    hostPid,
    get url() {
      return ready.url
    },
    send: (path, fields = {}) => exchange(ready.url, path, { key, ...fields }),
    async restart(signal) {
      await end(child, signal)
      child = start(from, dataDir)
      ready = await readReady(child)
    },
    killHost: () => endHost('SIGKILL'),
    async close() {
      await end(child, 'SIGTERM')
      if (existsSync(pidFile) && isAlive(hostPid())) await endHost('SIGTERM')
    },
  }
}

function start({ folder, program }: From, dataDir: string): ChildProcess {
  const parts = [program, '--listen', '127.0.0.1:0', '--data', dataDir, '--json']
  const environment = Object.entries(process.env).filter(([name]) => !name.startsWith('STEWARD_'))
  return spawn(process.execPath, parts, {
    cwd: folder,
    env: Object.fromEntries(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function readReady(child: ChildProcess): Promise<Ready> {
  let said = ''
  child.stderr?.on('data', (bytes: Buffer) => {
    said = (said + bytes.toString('utf8')).slice(-4000)
  })
  return new Promise((resolve, reject) => {
    const impatient = setTimeout(() => reject(new Error(`The service was not ready in time:\n${said}`)), readyWithinMs)
    child.once('exit', (code, signal) => {
      clearTimeout(impatient)
      reject(new Error(`The service ended with ${code ?? signal}:\n${said}`))
    })
    if (!child.stdout) return
    createInterface(child.stdout).on('line', (line) => {
      if (!line.startsWith('{"event":"ready"')) return
      clearTimeout(impatient)
      resolve(JSON.parse(line) as Ready) // validated by the code that uses the address
    })
  })
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await ended
}
