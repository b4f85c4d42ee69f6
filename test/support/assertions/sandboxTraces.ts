import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listProcesses } from './processes.ts'

/** Lists processes, mounts, loop devices, cgroups and files of this computer that still contain the id of a sandbox. */
export function findSandboxTraces(sandboxId: string, dataFolder: string): string[] {
  return [
    ...listProcesses()
      .filter(({ command, environment }) => `${command} ${environment}`.includes(sandboxId))
      .map(({ pid, command }) => `process ${pid}: ${command}`),
    ...readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(sandboxId))
      .map((line) => `mount ${line}`),
    ...loopFiles().filter((file) => file.includes(sandboxId)),
    ...findNamedBelow('/sys/fs/cgroup', sandboxId),
    ...findNamedBelow(dataFolder, sandboxId),
  ]
}

/** Lists the backing files of loop devices, including deleted ones. */
function loopFiles(): string[] {
  return listEntries('/sys/block')
    .filter(({ name }) => name.startsWith('loop'))
    .flatMap(({ name }) => {
      try {
        return [readFileSync(join('/sys/block', name, 'loop/backing_file'), 'utf8')]
      } catch {
        return [] // device not in use
      }
    })
}

/** Lists folders and files below `folder` whose names contain the id. */
function findNamedBelow(folder: string, id: string): string[] {
  return listEntries(folder).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.name.includes(id)) return [path]
    return entry.isDirectory() ? findNamedBelow(path, id) : []
  })
}

/** Entries may disappear during the scan. */
function listEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
