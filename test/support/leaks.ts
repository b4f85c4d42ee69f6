import { readFileSync } from 'node:fs'
import { describeState, type SeenProcess, seenProcesses } from './processes.ts'
import { idleCgroups } from './stewardCgroups.ts'
import { madeFolders } from './temporaryFolder.ts'

/** What was opened since the watch began and is still there. */
export type LeakWatch = {
  /** Each as a line. */
  left(): string[]
  processes(): SeenProcess[]
}

/** @param ours which processes are those that should have ended */
export function watchLeaks(ours: (all: readonly SeenProcess[]) => SeenProcess[]): LeakWatch {
  const cgroupsBefore = new Set(idleCgroups())
  /** Others may run sandboxes at the same time: theirs have processes in them, or go away soon. */
  const leftCgroups = () => idleCgroups().filter((path) => !cgroupsBefore.has(path))
  const processes = () => ours(seenProcesses())
  return {
    processes,
    left: () => [
      ...processes().map(({ pid, command }) => `process ${pid} (${describeState(pid)}): ${command}`),
      ...leftMounts(),
      ...leftCgroups().map((path) => `cgroup ${path}`),
    ],
  }
}

export function namesMadeFolder(text: string): boolean {
  return madeFolders().some((folder) => text.includes(folder))
}

function leftMounts(): string[] {
  if (process.platform !== 'linux') return []
  const table = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return table.filter(namesMadeFolder).map((line) => `mount ${line}`)
}
