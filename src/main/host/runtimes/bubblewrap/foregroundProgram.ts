import { readFile, readlink } from 'node:fs/promises'
import { sanitizeLine } from '#shared/shownLine.ts'
import { readProcess } from './processTable.ts'

/** The kernel keeps 15 bytes. */
const maxName = 32

/**
 * The name of the program in the foreground of a terminal, undefined while that is its leader. `comm` is in the kernel's
 * own memory: to read the arguments of a process is to read its memory, where a program can let the reader wait for ever.
 */
export async function findForegroundProgram(leader: number): Promise<string | undefined> {
  const group = (await readProcess(leader))?.foreground
  if (group === undefined || group <= 0 || group === leader) return undefined
  const [row, name] = await Promise.all([
    readProcess(group),
    readFile(`/proc/${group}/comm`, 'utf8').catch(() => undefined), // ended meanwhile
  ])
  if (row?.session !== leader || name === undefined) return undefined
  return sanitizeLine(name, maxName) || undefined
}

const deletedMark = ' (deleted)'

/** Working directory, as the sandbox names it, of the program in the foreground of a terminal. Undefined: unknown or deleted. */
export async function findForegroundDirectory(leader: number): Promise<string | undefined> {
  const group = (await readProcess(leader))?.foreground
  const process = group !== undefined && group > 0 ? group : leader
  const path = await readlink(`/proc/${process}/cwd`).catch(() => undefined) // ended, or not readable
  if ((await readProcess(process))?.session !== leader) return undefined
  return path?.startsWith('/') && !path.endsWith(deletedMark) ? path : undefined
}
