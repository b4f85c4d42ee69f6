import { execFile } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { promisify } from 'node:util'
import { AppError } from '#shared/appError.ts'
import { buildPerlScript, formatPerlArgument } from '../../perlScript.ts'
import { findExecutable } from '../hostTools.ts'
import { findIdRange } from './idRange.ts'

const removeMs = 600_000

/** Removes a tree whose files may belong to any user of the image id range. */
export async function removeInRange(path: string): Promise<void> {
  const removing = ['/bin/rm', '-rf', '--one-file-system', '--', path]
  const [program = '', ...parts] = (await wrapInRange(removing)) ?? removing
  await promisify(execFile)(program, parts, { cwd: '/', timeout: removeMs })
}

/**
 * Whether the files belong to a different user than Steward's non-root user. Only root of the id range can modify them.
 */
export function isInRange(path: string): boolean {
  const uid = process.getuid?.()
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid
  return uid !== 0 && owner !== undefined && owner !== uid
}

/** @throws AppError `runtime/unavailable` if the files at the path belong to the range and no range is available */
export async function assertRange(path: string): Promise<void> {
  if (isInRange(path) && typeof (await findIdRange()) === 'string') throw createNotInRangeError(lstatSync(path).uid)
}

export function createNotInRangeError(uid: number): AppError {
  return new AppError('runtime/unavailable', `Files of the sandbox belong to the user ${uid}.`, {
    detail:
      'That user must be among your subordinate ids in /etc/subuid and /etc/subgid, with the package uidmap installed.',
  })
}

/** @returns the command, wrapped to run as root of the id range if the files at the path belong to it */
export async function buildFileCommand(path: string, command: readonly string[]): Promise<readonly string[]> {
  return isInRange(path) ? ((await wrapInRange(command)) ?? command) : command
}

/** @returns a command that runs another as root of the range, or undefined for root and if no range is available */
export async function wrapInRange(command: readonly string[]): Promise<string[] | undefined> {
  const [range, perl] = await Promise.all([findIdRange(), findExecutable('perl')])
  if (process.getuid?.() === 0 || typeof range === 'string' || perl === undefined) return undefined
  return [perl, '-e', buildPerlScript('range', 'inRange'), formatPerlArgument({ range, command })]
}
