import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { seenProcesses } from './processes.ts'

/** Everything on this machine that still carries the id of a sandbox: processes, mounts, loop devices, cgroups, files. */
export function leftBehind(sandboxId: string, dataFolder: string): string[] {
  return [
    ...seenProcesses()
      .filter(({ command, environment }) => `${command} ${environment}`.includes(sandboxId))
      .map(({ pid, command }) => `process ${pid}: ${command}`),
    ...readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(sandboxId))
      .map((line) => `mount ${line}`),
    ...loopFiles().filter((file) => file.includes(sandboxId)),
    ...namedBelow('/sys/fs/cgroup', sandboxId),
    ...namedBelow(dataFolder, sandboxId),
  ]
}

/** What loop devices show, deleted or not. */
function loopFiles(): string[] {
  return entriesOf('/sys/block')
    .filter(({ name }) => name.startsWith('loop'))
    .flatMap(({ name }) => {
      try {
        return [readFileSync(join('/sys/block', name, 'loop/backing_file'), 'utf8')]
      } catch {
        return [] // not in use
      }
    })
}

/** Folders and files below `folder` whose name has the id. */
function namedBelow(folder: string, id: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.name.includes(id)) return [path]
    return entry.isDirectory() ? namedBelow(path, id) : []
  })
}

/** What goes away while it is looked at is gone. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
