import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { buildPerlScript, formatPerlArgument } from '../../perlScript.ts'
import { findIdRange, toNumberInRange } from './idRange.ts'
import { createNotInRangeError, wrapInRange } from './inRange.ts'

const shiftMs = 600_000

/**
 * Changes the owners of a sandbox's files to another block of `count` ids, where root becomes `uid` of this computer.
 */
export async function shiftOwners(folder: string, { uid, count }: { uid: number; count: number }): Promise<void> {
  const range = await findIdRange()
  const first = typeof range === 'string' ? undefined : toNumberInRange(range, uid)
  if (first === undefined) throw createNotInRangeError(uid)
  const script = ['-e', buildPerlScript('owners', 'shiftOwners'), formatPerlArgument({ folder, first, count })]
  const [program = '', ...parts] = (await wrapInRange(['perl', ...script])) ?? ['perl', ...script]
  await promisify(execFile)(program, parts, { cwd: '/', timeout: shiftMs })
}
