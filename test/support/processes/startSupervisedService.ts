import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ServiceTarget } from '#agent/connections/serviceTarget.ts'
import type { ServiceReady } from '#shared/contract/supervision.ts'
import { until } from '../assertions/eventually.ts'
import { isAlive } from '../assertions/processes.ts'
import { projectFolder } from '../fixtures/testProject.ts'

/** Service as the application runs it, without the automatic restart. */
export type SupervisedService = {
  /** Target that the application derives from the service's output. */
  readonly target: ServiceTarget & { socketPath: string }
  kill(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

const readyWithinMs = 120_000

export function startSupervisedService(dataFolder: string): SupervisedService {
  let child: ChildProcess | undefined
  let target: SupervisedService['target'] | undefined
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'close')
    child.kill(signal)
    await ended
  }
  return {
    get target() {
      if (!target) throw new Error('The service was not started yet.')
      return target
    },
    kill: () => end('SIGKILL'),
    async start() {
      const environment = Object.entries(process.env).filter(([name]) => !name.startsWith('STEWARD_'))
      const parts = ['src/main/entries/service.ts', '--supervised', '--json', '--data', dataFolder]
      const started = spawn(process.execPath, parts, {
        cwd: projectFolder,
        env: Object.fromEntries(environment),
        stdio: ['pipe', 'pipe', 'pipe'],
      })
      child = started
      let said = ''
      let line: string | undefined
      started.stderr.on('data', (bytes: Buffer) => {
        said += bytes.toString()
      })
      createInterface(started.stdout).on('line', (value) => {
        line ??= value
      })
      const ready = await until(
        'the service is ready',
        () => {
          if (started.exitCode !== null) throw new Error(said)
          return line
        },
        readyWithinMs,
      )
      // parsed as in the application
      const { url, socket = '', owner_key_file: keyFile } = JSON.parse(ready) as ServiceReady
      target = { url, key: readFileSync(keyFile, 'utf8').trim(), certificate: undefined, socketPath: socket }
    },
    async close() {
      await end('SIGTERM')
      const pidFile = join(dataFolder, 'host/host.pid')
      if (!existsSync(pidFile)) return
      const pid = Number(readFileSync(pidFile, 'utf8'))
      if (!isAlive(pid)) return
      process.kill(pid, 'SIGTERM')
      await until('the sandbox host ends', () => !isAlive(pid))
    },
  }
}
