import { parseArgs } from 'node:util'
import { listRuntimes, startHost } from '#host/compose.ts'
import { defaultCpuWeight } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { DockerOptions, defaultDocker } from '#host/runtimes/docker/dockerOptions.ts'
import { createJsonLog, type LogLevel } from '#platform/logging/log.ts'
import { openLogFile } from '#platform/logging/logFile.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { releaseIdleMemory } from '#platform/program/releaseIdleMemory.ts'
import { version } from '#platform/program/version.ts'
import { AppError } from '#shared/appError.ts'

/**
 * Process of the sandbox host: `node host.ts --data DIR --runtimes bubblewrap,docker --docker JSON --spares 1
 * --cpu-weight 25 --log-level info [--log FILE] [--idle-exit-ms N]`. Started by the service, and outlives it. Logs to
 * the file, or to stdout without `--log`.
 */
const closeMs = 60_000

function parseOptions() {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      runtimes: { type: 'string', default: 'bubblewrap' },
      docker: { type: 'string', default: JSON.stringify(defaultDocker) },
      spares: { type: 'string', default: '0' },
      'cpu-weight': { type: 'string', default: String(defaultCpuWeight) },
      'log-level': { type: 'string', default: 'info' },
      log: { type: 'string' },
      'idle-exit-ms': { type: 'string', default: '60000' },
    },
  })
  if (values.data === undefined) throw new AppError('config/invalid', '--data requires a folder.')
  const idleExitMs = parseWholeNumber('--idle-exit-ms', values['idle-exit-ms'])
  const cpuWeight = parseWholeNumber('--cpu-weight', values['cpu-weight'])
  const warmPoolSize = parseWholeNumber('--spares', values.spares)
  const docker = parseDocker(values.docker)
  const level = parseLevel(values['log-level'])
  return {
    dataDir: values.data,
    names: values.runtimes.split(','),
    docker,
    warmPoolSize,
    cpuWeight,
    level,
    logPath: values.log,
    idleExitMs,
  }
}

function parseWholeNumber(name: string, value: string): number {
  if (!/^\d+$/.test(value)) throw new AppError('config/invalid', `${name} must be a whole number.`)
  return Number(value)
}

function parseDocker(value: string): DockerOptions {
  try {
    return DockerOptions.parse(parseJson(value))
  } catch (cause) {
    throw createInvalidError('--docker is not valid.', cause)
  }
}

function createInvalidError(message: string, cause: unknown): AppError {
  return new AppError('config/invalid', message, { cause })
}

function parseLevel(value: string): LogLevel {
  if (value === 'debug' || value === 'info' || value === 'warn' || value === 'error') return value
  throw new AppError('config/invalid', `--log-level must be debug, info, warn or error, not ${value}.`)
}

async function run(): Promise<void> {
  const { dataDir, names, docker, warmPoolSize, cpuWeight, level, logPath, idleExitMs } = parseOptions()
  const now = Date.now
  const print = (line: string) => process.stdout.write(line)
  const log = createJsonLog({
    write: logPath === undefined ? print : openLogFile(logPath).write,
    now,
    level,
    area: 'host',
  })
  process.on('uncaughtException', (error) => log.error('uncaught exception', { error }))
  process.on('unhandledRejection', (error) => log.error('unhandled promise rejection', { error }))
  const stopped = new Promise<string>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal))
    process.on('SIGHUP', () => {})
  })
  const runtimes = listRuntimes(names, { dataDir, docker, warmPoolSize: warmPoolSize, cpuWeight, log, now })
  const host = await startHost({ dataDir, runtimes, version, pid: process.pid, now, log, idleExitMs })
  releaseIdleMemory()
  log.info('sandbox host shutting down', { reason: await Promise.race([stopped, host.wantsToEnd]) })
  setTimeout(() => process.exit(1), closeMs).unref()
  await host.close()
}

run().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof AppError ? error.message : String(error)}\n`)
    process.exit(1)
  },
)
