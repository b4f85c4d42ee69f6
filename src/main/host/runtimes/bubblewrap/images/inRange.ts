import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { perlArgument, perlScript } from '../../perlScript.ts'
import { findExecutable } from '../hostTools.ts'
import { findIdRange } from './idRange.ts'

const removeMs = 600_000

/** Removes a tree whose files may belong to any user of the range of images. */
export async function removeInRange(path: string): Promise<void> {
  const removing = ['/bin/rm', '-rf', '--one-file-system', '--', path]
  const [program = '', ...parts] = (await inRange(removing)) ?? removing
  await promisify(execFile)(program, parts, { cwd: '/', timeout: removeMs })
}

/** @returns a command that runs another as root of the range; undefined for root itself and where there is no range */
export async function inRange(command: readonly string[]): Promise<string[] | undefined> {
  const [range, perl] = await Promise.all([findIdRange(), findExecutable('perl')])
  if (process.getuid?.() === 0 || typeof range === 'string' || perl === undefined) return undefined
  return [perl, '-e', perlScript('range', 'inRange'), perlArgument({ range, command })]
}
