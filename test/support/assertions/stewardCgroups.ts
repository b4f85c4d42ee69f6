import { type Dirent, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from './processes.ts'

const root = '/sys/fs/cgroup'

/**
 * Lists cgroups of Steward without processes, except those that the next host removes because their creator was killed.
 */
export function idleCgroups(): string[] {
  return listStewardGroups(root).filter(
    (path) => readOr(join(path, 'cgroup.procs'), '-') === '' && !isLeftoverProbe(path),
  )
}

function isLeftoverProbe(path: string): boolean {
  const [, pid] = /\/steward-probe-(\d+)-[^/]+$/.exec(path) ?? []
  return pid !== undefined && !isAlive(Number(pid))
}

function listStewardGroups(folder: string): string[] {
  return foldersIn(folder).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.name.startsWith('steward-') ? [path] : listStewardGroups(path)
  })
}

function foldersIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  } catch {
    return [] // removed concurrently, or cgroups are unavailable
  }
}

function readOr(path: string, absent: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return absent
  }
}
