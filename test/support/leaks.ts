import { readFileSync } from 'node:fs'
import { describeState, listProcesses, type ProcessInfo } from './processes.ts'
import { idleCgroups } from './stewardCgroups.ts'
import { listTestFolders } from './temporaryFolder.ts'

/** Resources opened since the watch began that are still open. */
export type LeakWatch = {
  /** Each as a line. */
  left(): string[]
  processes(): ProcessInfo[]
}

/** @param ours which processes are those that should have ended */
export function watchLeaks(ours: (all: readonly ProcessInfo[]) => ProcessInfo[]): LeakWatch {
  const cgroupsBefore = new Set(idleCgroups())
  /** Others may run sandboxes at the same time: theirs have processes in them, or go away soon. */
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
