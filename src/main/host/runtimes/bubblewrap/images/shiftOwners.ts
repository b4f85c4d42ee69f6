import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { perlArgument, perlScript } from '../../perlScript.ts'
import { idsOfImage } from './idRange.ts'

const shiftMs = 600_000

/** Gives the files of a machine of an image to the range of another: root's to the first of it, and so on. */
export async function shiftOwners(folder: string, first: number): Promise<void> {
  const parts = ['-e', perlScript('shiftOwners'), perlArgument({ folder, first, count: idsOfImage })]
  await promisify(execFile)('perl', parts, { cwd: '/', timeout: shiftMs })
}
