import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { isRunning } from '#platform/processes/processIdentity.ts'
import type { Enforced } from '#shared/contract/sandboxes.ts'
import type { SandboxId } from '#shared/ids.ts'
import { kill } from './processTable.ts'
import type { WarmSandboxName } from './sandboxFolder.ts'

/** Cgroup files of one kind of limit, in the order in which they must be written. */
export type CgroupController = {
  /** Folder of the hierarchy that the current user may use. */
  path: string
  /** Folder within `path` that holds all sandboxes, which share one CPU weight there. Exists while a sandbox does. */
  parent: string
  /** Settings written, in this order, before the parent is used. */
  prepare: readonly (CgroupSetting & { to: 'root' | 'parent' })[]
  /** Reverts the prepared setting in `path` if it was not set before. */
  undo: CgroupSetting | undefined
  enforces: readonly (keyof Enforced)[]
  /** File to which a process writes 0 to join. */
  joinFile: string
  settings(limits: CgroupLimits): readonly CgroupSetting[]
  /** Settings written before a sandbox is ended, so that its processes get CPU time to exit. */
  release: readonly CgroupSetting[]
}

export type CgroupSetting = { file: string; value: string; optional?: boolean }
export type CgroupLimits = { memoryMb: number; vcpu: number; processes: number }

export type SandboxCgroups = {
  folders: readonly string[]
  /** Files to which a process writes 0 to join. */
  joinFiles: readonly string[]
  resize(limits: CgroupLimits): Promise<void>
  release(): Promise<void>
  /** Kills the remaining processes in the cgroups and removes the cgroups. */
  remove(): Promise<void>
}

export const toCgroupName = (name: SandboxId | WarmSandboxName): string => `steward-${name}`
/** Name of the cgroup that contains all sandboxes. */
export const parentCgroupName = 'steward.sandboxes'

/** Grace period for helpers outside the sandbox to report how their commands ended. */
const graceMs = 1_000
const removalTimeoutMs = 15_000
const probeMs = 10_000
const maxTries = 20

export async function createCgroups(
  controllers: readonly CgroupController[],
  name: string,
  limits: CgroupLimits,
): Promise<SandboxCgroups> {
  const folders: string[] = []
  const joinFiles: string[] = []
  const resize = async (limits: CgroupLimits): Promise<void> => {
    for (const { parent, settings } of controllers) {
      const folder = join(parent, name)
      const inOrder = settings(limits)
      try {
        for (const setting of inOrder) await apply(folder, setting)
      } catch {
        // Reverse order, because a limit may not exceed a related limit that has not changed yet.
        for (const setting of inOrder.toReversed()) await apply(folder, setting)
      }
    }
  }
  try {
    for (const { parent, settings, joinFile } of controllers) {
      const folder = join(parent, name)
      if (!folders.includes(folder)) {
        folders.push(folder)
        await makeMember(controllers, parent, folder)
        joinFiles.push(join(folder, joinFile))
      }
      for (const setting of settings(limits)) await apply(folder, setting)
    }
  } catch (error) {
    await removeCgroups(folders)
    throw error
  }
  const release = async (): Promise<void> => {
    for (const controller of controllers) {
      for (const setting of controller.release)
        await apply(join(controller.parent, name), { ...setting, optional: true })
    }
  }
  return { folders, joinFiles, resize, release, remove: () => removeCgroups(folders) }
}

/**
 * Creates a cgroup below the parent. Another process or sandbox may remove the parent with its last member, or may have
 * created it and not yet applied its settings. The settings are written after the member is created, because the new
 * member prevents the removal of the parent.
 */
async function makeMember(controllers: readonly CgroupController[], parent: string, folder: string): Promise<void> {
  for (let triesRemaining = maxTries; ; triesRemaining--) {
    try {
      await makeFolder(parent)
      await mkdir(folder)
      break
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || triesRemaining === 0) throw error
    }
  }
  for (const controller of controllers) if (controller.parent === parent) await prepare(controller)
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error
  })
}

/** Writes the settings of the parent, which must exist. */
async function prepare({ path, parent, prepare: settings }: CgroupController): Promise<void> {
  for (const { to, ...setting } of settings) await apply(to === 'root' ? path : parent, setting)
}

/**
 * Kills the remaining processes in these cgroups, regardless of which process created them, and removes the cgroups.
 */
export async function removeCgroups(folders: readonly string[]): Promise<void> {
  await Promise.all(folders.map(removeCgroup))
  const parents = new Set(folders.map((folder) => dirname(folder)))
  for (const parent of parents) if (basename(parent) === parentCgroupName) await removeIfEmpty(parent)
}

/** The kernel refuses while the cgroup contains a sandbox. */
async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {})
}

async function removeCgroup(folder: string): Promise<void> {
  const start = performance.now()
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 100)) {
    try {
      await rmdir(folder)
      return
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      if (performance.now() > start + removalTimeoutMs) throw error
    }
    if (performance.now() > start + graceMs) await killMembers(folder)
    await pause(waitMs)
  }
}

async function killMembers(folder: string): Promise<void> {
  const members = await readFile(join(folder, 'cgroup.procs'), 'latin1').catch(() => '')
  for (const pid of members.split('\n').filter(Boolean)) kill(Number(pid))
}

/**
 * Checks whether the cgroup of a sandbox can be created and joined here, by trying. Reverts all changes if it cannot.
 */
export async function canUse(controller: CgroupController, shell: string): Promise<boolean> {
  const { path, parent, settings, joinFile } = controller
  const folder = join(parent, `steward-probe-${process.pid}-${randomBytes(4).toString('hex')}`)
  await removeLeftoverProbes(parent)
  const before = await readEnabledControllers(path)
  let usable = false
  try {
    await makeMember([controller], parent, folder)
    for (const setting of settings({ memoryMb: 512, vcpu: 1, processes: 64 })) await apply(folder, setting)
    await promisify(execFile)(shell, ['-c', 'echo 0 > "$1"', 'sh', join(folder, joinFile)], { timeout: probeMs })
    usable = true
    return true
  } catch {
    return false
  } finally {
    await removeCgroups([folder]).catch(() => {})
    const { undo } = controller
    if (!usable && undo && !before.includes(undo.value.slice(1))) await apply(path, { ...undo, optional: true })
  }
}

async function readEnabledControllers(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'cgroup.subtree_control'), 'latin1').catch(() => '')
  return text.split(/\s+/)
}

async function removeLeftoverProbes(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => [])
  for (const name of names) {
    const [, pid] = /^steward-probe-(\d+)-/.exec(name) ?? []
    // The kernel refuses to remove a cgroup that contains processes.
    if (pid !== undefined && !isRunning(Number(pid))) await rmdir(join(parent, name)).catch(() => {})
  }
}

async function apply(folder: string, { file, value, optional }: CgroupSetting): Promise<void> {
  try {
    // The kernel provides these files. A missing file must not be created.
    await writeFile(join(folder, file), value, { flag: 'r+' })
  } catch (error) {
    if (!optional) throw error
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
