import { constants } from 'node:os'
import { AppError } from '#shared/appError.ts'
import type { ExecRequest } from '../sandboxRuntime.ts'
import type { OperationResult } from './execProtocol.ts'

const home = '/root'
const environment = [
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'HOME=/root',
  'USER=root',
  'LOGNAME=root',
  'SHELL=/bin/bash',
  'LANG=C.UTF-8',
]

/**
 * Builds the request fields of a command: number of fields, working directory, command and environment. None may
 * contain NUL.
 */
export function toCommandFields(
  { command, cwd = home, env = {} }: Pick<ExecRequest, 'command' | 'cwd' | 'env'>,
  ownVariables: readonly string[] = [],
): string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const fields = [cwd, command, ...environment, ...ownVariables, ...variables]
  if (fields.some((field) => field.includes('\0'))) {
    throw new AppError('request/invalid', 'The command, its folder or its environment contains a NUL character.')
  }
  return [String(fields.length), ...fields]
}

/** Parses a wait(2) status. The exit code after signal N is 128 + N, as in shells. */
export function parseExit(status: number): { exitCode: number; signal: string | null } {
  const signal = status & 0x7f
  if (signal === 0) return { exitCode: status >> 8, signal: null }
  return { exitCode: 128 + signal, signal: signalNames.get(signal) ?? `SIG${signal}` }
}

/** @returns an AppError with the reason why a command was not run */
export function createNotStartedError(
  result: Exclude<OperationResult, { kind: 'ended' }>,
  cwd: string | undefined,
): AppError {
  if (result.kind === 'refused') return result.error
  if (result.kind === 'lost') {
    return new AppError('exec/failed', 'The connection to the command was lost. Its exit code is unknown.', {
      detail: result.detail,
    })
  }
  const { ENOENT, ENOTDIR, E2BIG } = constants.errno
  if (result.stage === 'folder' && result.errno === ENOENT) {
    return new AppError('file/not-found', `The working folder ${cwd ?? home} does not exist in the sandbox.`)
  }
  if (result.stage === 'folder' && result.errno === ENOTDIR) {
    return new AppError('file/not-a-folder', `The working folder ${cwd ?? home} is not a folder.`)
  }
  if (result.stage === 'command' && result.errno === E2BIG) {
    return new AppError('request/too-large', 'The environment is larger than Linux allows.')
  }
  if (result.stage === 'fork') return new AppError('sandbox/full', 'The sandbox cannot start another process.')
  const cause = errorNames.get(result.errno) ?? String(result.errno)
  return new AppError('exec/failed', `The command could not be started (${result.stage}: ${cause}).`)
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))
// Some numbers have two names. The first is the common one.
const errorNames = new Map(
  Object.entries(constants.errno)
    .toReversed()
    .map(([name, number]) => [number, name]),
)
