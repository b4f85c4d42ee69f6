import { dirname, join, resolve } from 'node:path'
import { type CgroupController, type CgroupSetting, parentCgroupName } from './cgroups.ts'

/** Contents of /proc/self/mountinfo and /proc/self/cgroup. */
export type CgroupFiles = { mounts: string; memberships: string }

/**
 * Candidate cgroups for setting limits, best first, for each controller. Version 1 has one hierarchy per controller.
 * Version 2 has a single hierarchy in which a process belongs to one cgroup, so all controllers need the same parent.
 */
export type CgroupCandidates = { controllers: CgroupController[][]; sharesGroup: boolean }

/**
 * Lists candidate cgroups. `canUse` determines which of them the current user may use.
 * @param cpuWeight weight of all sandboxes together on the scale of version 2: 1 to 10000, default 100
 */
export function createCgroupCandidates(files: CgroupFiles, cpuWeight: number): CgroupCandidates {
  const mounts = parseMounts(files.mounts)
  const memberships = parseMemberships(files.memberships)
  const separate = separateControllers.map(({ name, ...controller }): CgroupController[] => {
    const mount = mounts.find((candidate) => candidate.type === 'cgroup' && candidate.options.includes(name))
    const path = memberships.find((it) => it.controllers.includes(name))?.path
    if (!mount || path === undefined) return []
    const root = toMountedPath(mount, path)
    const shares = String(Math.max(minShares, Math.round((cpuWeight * defaultShares) / defaultWeight)))
    const weight: CgroupController['prepare'] =
      name === 'cpu' ? [{ to: 'parent', file: 'cpu.shares', value: shares, optional: true }] : []
    // Joins through `tasks`, which moves only the calling thread and avoids a kernel lock over all processes that can
    // take 10 ms to acquire.
    return [
      {
        ...controller,
        joinFile: 'tasks',
        path: root,
        parent: join(root, parentCgroupName),
        prepare: weight,
        undo: undefined,
      },
    ]
  })
  if (separate.some((candidates) => candidates.length > 0)) return { controllers: separate, sharesGroup: false }
  const unified = findUnifiedGroup(files)
  if (!unified) return { controllers: [], sharesGroup: true }
  const paths = listAncestors(unified.group, unified.top)
  const controllers = unifiedControllers.map(({ name, ...controller }) => {
    const enable: CgroupSetting = { file: 'cgroup.subtree_control', value: `+${name}` }
    const weight: CgroupSetting = { file: 'cpu.weight', value: String(cpuWeight), optional: true }
    const prepare: CgroupController['prepare'] = [
      { ...enable, to: 'root' },
      { ...enable, to: 'parent' },
      ...(name === 'cpu' ? [{ ...weight, to: 'parent' } as const] : []),
    ]
    const undo = { ...enable, value: `-${name}` }
    return paths.map(
      (path): CgroupController => ({
        ...controller,
        joinFile: 'cgroup.procs',
        path,
        parent: join(path, parentCgroupName),
        prepare,
        undo,
      }),
    )
  })
  return { controllers, sharesGroup: true }
}

/** Returns the group of this process in the version 2 hierarchy, and the topmost visible group. */
export function findUnifiedGroup(files: CgroupFiles): { group: string; top: string } | undefined {
  const mount = parseMounts(files.mounts).find((it) => it.type === 'cgroup2')
  const path = parseMemberships(files.memberships).find((it) => it.controllers.includes(''))?.path
  if (!mount || path === undefined) return undefined
  return { group: toMountedPath(mount, path), top: mount.point }
}

type NamedController = Omit<CgroupController, 'path' | 'parent' | 'prepare' | 'undo' | 'joinFile'> & { name: string }

const defaultWeight = 100
/** Default and minimum CPU weight in version 1. */
const defaultShares = 1024
const minShares = 2
const periodMicroseconds = 100_000
const megabyte = 1024 * 1024

const separateControllers: readonly NamedController[] = [
  {
    name: 'memory',
    enforces: ['memory'],
    settings: ({ memoryMb }) => [
      { file: 'memory.limit_in_bytes', value: String(memoryMb * megabyte) },
      // Available only if the kernel accounts for swap.
      { file: 'memory.memsw.limit_in_bytes', value: String(memoryMb * megabyte), optional: true },
    ],
    release: [],
  },
  {
    name: 'cpu',
    enforces: ['cpu'],
    settings: ({ vcpu }) => [
      { file: 'cpu.cfs_period_us', value: String(periodMicroseconds) },
      { file: 'cpu.cfs_quota_us', value: String(vcpu * periodMicroseconds) },
    ],
    release: [{ file: 'cpu.cfs_quota_us', value: '-1' }],
  },
  {
    name: 'pids',
    enforces: ['processes'],
    settings: ({ processes }) => [{ file: 'pids.max', value: String(processes) }],
    release: [],
  },
]

const unifiedControllers: readonly NamedController[] = [
  {
    name: 'memory',
    enforces: ['memory'],
    settings: ({ memoryMb }) => [
      { file: 'memory.max', value: String(memoryMb * megabyte) },
      { file: 'memory.swap.max', value: '0', optional: true },
    ],
    release: [],
  },
  {
    name: 'cpu',
    enforces: ['cpu'],
    settings: ({ vcpu }) => [{ file: 'cpu.max', value: `${vcpu * periodMicroseconds} ${periodMicroseconds}` }],
    release: [{ file: 'cpu.max', value: 'max' }],
  },
  {
    name: 'pids',
    enforces: ['processes'],
    settings: ({ processes }) => [{ file: 'pids.max', value: String(processes) }],
    release: [],
  },
]

type Mount = { root: string; point: string; type: string; options: readonly string[] }

/** @see proc_pid_mountinfo(5) */
function parseMounts(text: string): Mount[] {
  return text
    .split('\n')
    .filter((line) => line.includes(' - cgroup'))
    .map((line) => {
      const [before = '', after = ''] = line.split(' - ')
      const [, , , root = '/', point = ''] = before.split(' ')
      const [type = '', , options = ''] = after.split(' ')
      return { root, point, type, options: options.split(',') }
    })
}

/** Parses lines of the form `ID:CONTROLLERS:PATH`, where version 2 lists no controllers. @see cgroups(7) */
function parseMemberships(text: string): { controllers: string[]; path: string }[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [, controllers = '', ...path] = line.split(':')
      return { controllers: controllers.split(','), path: path.join(':') }
    })
}

/** In a container, the mount may expose only a part of the hierarchy. */
function toMountedPath({ root, point }: Mount, path: string): string {
  const below = root !== '/' && path.startsWith(root) ? path.slice(root.length) : path
  return resolve(point, `.${below}`)
}

function listAncestors(folder: string, top: string): string[] {
  const groups = [folder]
  for (let group = folder; group !== top && group.startsWith(top); ) {
    group = dirname(group)
    groups.unshift(group)
  }
  return groups
}
