import { readFileSync } from 'node:fs'
import { listTestFolders } from '../fixtures/temporaryFolder.ts'
import { describeState, listProcesses, type ProcessInfo } from './processes.ts'
import { idleCgroups } from './stewardCgroups.ts'

/** Resources that were opened since the watch began and are still open. */
export type LeakWatch = {
  /** One line per resource. */
  left(): string[]
  processes(): ProcessInfo[]
}

/** @param ours selects the processes that should have ended */
export function watchLeaks(ours: (all: readonly ProcessInfo[]) => ProcessInfo[]): LeakWatch {
  const cgroupsBefore = new Set(idleCgroups())
  /** Other test runs may create sandboxes at the same time. Their cgroups contain processes, or disappear shortly. */
  const findLeftCgroups = () => idleCgroups().filter((path) => !cgroupsBefore.has(path))
  const processes = () => ours(listProcesses())
  return {
    processes,
    left: () => [
      ...processes().map(({ pid, command }) => `process ${pid} (${describeState(pid)}): ${command}`),
      ...findLeftMounts(),
      ...findLeftCgroups().map((path) => `cgroup ${path}`),
    ],
  }
}

export function namesTestFolder(text: string): boolean {
  return listTestFolders().some((folder) => text.includes(folder))
}

function findLeftMounts(): string[] {
  if (process.platform !== 'linux') return []
  const table = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return table.filter(namesTestFolder).map((line) => `mount ${line}`)
}
