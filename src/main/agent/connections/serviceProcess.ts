import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Environment } from '#config/config.ts'
import type { StartOptions } from '#config/startOptions.ts'
import type { Log } from '#platform/logging/log.ts'
import { openLogFile } from '#platform/logging/logFile.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { superviseChild } from '#platform/processes/childSupervisor.ts'
import { exitCodes } from '#platform/program/commandLine.ts'
import { compiledPrograms, getProgramFile } from '#platform/program/programFile.ts'
import { smallAllocator, smallHeapOptions } from '#platform/program/smallMemory.ts'
import { AppError } from '#shared/appError.ts'
import { type ServiceCommand, ServiceReady } from '#shared/contract/supervision.ts'

type Options = Pick<StartOptions, 'dataFolder' | 'config'> & {
  environment: Environment
  now: () => number
  log: Log
  /** @param personKey credential for the user of the window, which no other client of this service has */
  onReady: (ready: ServiceReady, personKey: string) => void
  onDown: (reason: string) => void
}

export type ServiceProcess = {
  /**
   * @throws AppError `service/start-failed` with the error output if the process refuses to start or crashes on every
   * attempt
   */
  readonly started: Promise<ServiceReady>
  /**
   * Sends an order immediately, and again after every restart. Only the latest order of each kind and family is sent
   * again.
   */
  send(order: ServiceCommand): void
  /** Kills an unresponsive process. The supervisor restarts it. */
  restart(): void
  close(): Promise<void>
}

const maxErrorCharacters = 4_000

/** Runs the embedded service as a child process. Restarts it when it exits, and stops it when this process exits. */
export function runServiceProcess({
  dataFolder,
  config,
  environment,
  now,
  log,
  onReady,
  onDown,
}: Options): ServiceProcess {
  const logPath = join(dataFolder, 'logs', 'service.log')
  const logFile = openLogFile(logPath)
  const personKey = `sk_steward_${randomBytes(32).toString('base64url')}`
  const introduction = formatCommand({ event: 'person', key: personKey })
  let said = ''
  const orders = new Map<string, string>()
  let present: ChildProcess | undefined
  let again = false
  const parts = ['--data', dataFolder, '--json', '--supervised', ...(config.required ? ['--config', config.file] : [])]
  const supervisor = superviseChild({
    name: 'The service',
    spawn() {
      const program = [...smallHeapOptions, getProgramFile('entries/service')]
      const child = spawn(process.execPath, [...program, ...parts, ...(again ? ['--again'] : [])], {
        // Inside Electron this is Electron's binary, which runs as Node only with this variable.
        env: { ...environment, ...compiledPrograms, ...smallAllocator, ELECTRON_RUN_AS_NODE: '1' },
        stdio: ['pipe', 'pipe', 'pipe'],
        // Detached, so that a Ctrl-C in the terminal reaches only this process, which then stops the service in order.
        detached: process.platform !== 'win32',
        windowsHide: true,
      })
      said = ''
      present = child
      child.stdin.write([introduction, ...orders.values()].join(''))
      child.stderr.on('data', (bytes: Buffer) => {
        logFile.write(bytes)
        said = (said + bytes.toString('utf8')).slice(-maxErrorCharacters)
      })
      return child
    },
    parseReady: (line) => parseReady(line),
    onReady(ready) {
      again = true
      onReady(ready, personKey)
    },
    onDown: (reason) => onDown([reason, readErrorText(said)].filter((it) => it !== undefined).join(' ')),
    refuses: (exitCode) => Object.values<number | null>(exitCodes).includes(exitCode),
    now,
    log,
  })
  const started = supervisor.started.catch((cause: unknown) => {
    throw createStartError(cause, { said, logFile: logPath })
  })
  started.catch(() => {}) // callers that await it handle the error
  return {
    started,
    send(order) {
      const line = formatCommand(order)
      orders.set('family' in order ? `${order.event} ${order.family}` : order.event, line)
      present?.stdin?.write(line)
    },
    restart: supervisor.restart,
    async close() {
      await supervisor.close()
      logFile.close()
    },
  }
}

function formatCommand(order: ServiceCommand): string {
  return `${JSON.stringify(order)}\n`
}

function parseReady(line: string): ServiceReady | undefined {
  if (!line.startsWith('{"event":"ready"')) return undefined
  return ServiceReady.parse(parseJson(line))
}

function createStartError(cause: unknown, { said, logFile }: { said: string; logFile: string }): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const why = readErrorText(said) ?? findCrashLine(said)
  return new AppError('service/start-failed', reason, {
    cause,
    detail: [...(why === undefined ? [] : [why]), `Its log: ${logFile}.`].join(' '),
  })
}

const errorLinePattern = /^steward: /

/** Returns the error that the process printed before it exited, if any. */
function readErrorText(said: string): string | undefined {
  const lines = said.split('\n').filter((line) => errorLinePattern.test(line))
  return lines.at(-1)?.replace(errorLinePattern, '')
}

/** Extracts the error from Node's crash report, in which the stack and the version of Node follow. */
function findCrashLine(said: string): string | undefined {
  return said.split('\n').findLast((line) => /^(?:\w*Error|Uncaught)\b.*/.test(line))
}
