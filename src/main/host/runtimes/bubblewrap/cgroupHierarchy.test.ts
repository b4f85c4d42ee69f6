import { expect, test } from 'vitest'
import { createCgroupCandidates } from './cgroupHierarchy.ts'

const parents = (mounts: string, memberships: string): string[][] =>
  createCgroupCandidates({ mounts, memberships }, 25).controllers.map((candidates) => candidates.map((it) => it.path))

const separateMounts = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`

test('version 1 uses the group of Steward in each controller', () => {
  const memberships = '8:pids:/\n4:memory:/user/a:b\n1:cpuacct,cpu:/user\n0::/\n'
  expect(parents(separateMounts, memberships)).toEqual([
    ['/sys/fs/cgroup/memory/user/a:b'],
    ['/sys/fs/cgroup/cpu,cpuacct/user'],
    ['/sys/fs/cgroup/pids'],
  ])
})

test('version 1 resolves groups below a partial mount in a container', () => {
  const mounts = '35 31 0:32 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n'
  expect(parents(mounts, '4:memory:/docker/1/steward\n')).toEqual([['/sys/fs/cgroup/memory/steward'], [], []])
})

test('version 2 prefers the highest usable group', () => {
  const mounts = '41 31 0:38 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n'
  const folders = [
    '/sys/fs/cgroup',
    '/sys/fs/cgroup/user.slice',
    '/sys/fs/cgroup/user.slice/user@1000.service',
    '/sys/fs/cgroup/user.slice/user@1000.service/app.scope',
  ]
  expect(parents(mounts, '0::/user.slice/user@1000.service/app.scope\n')).toEqual([folders, folders, folders])
  const { controllers, sharesGroup } = createCgroupCandidates({ mounts, memberships: '0::/\n' }, 25)
  expect(sharesGroup).toBe(true)
  expect(controllers[0]?.[0]).toMatchObject({
    path: '/sys/fs/cgroup',
    parent: '/sys/fs/cgroup/steward.sandboxes',
    prepare: [
      { to: 'root', file: 'cgroup.subtree_control', value: '+memory' },
      { to: 'parent', file: 'cgroup.subtree_control', value: '+memory' },
    ],
    undo: { file: 'cgroup.subtree_control', value: '-memory' },
    joinFile: 'cgroup.procs',
  })
})

test('returns no candidates without cgroups', () => {
  expect(createCgroupCandidates({ mounts: '', memberships: '' }, 25)).toEqual({ controllers: [], sharesGroup: true })
})

test('formats each limit as kernel settings', () => {
  const limits = { memoryMb: 512, vcpu: 2, processes: 1024 }
  const words = (mounts: string, memberships: string): string[] =>
    createCgroupCandidates({ mounts, memberships }, 25).controllers.flatMap(([candidate]) =>
      (candidate?.settings(limits) ?? []).map(({ file, value }) => `${file}=${value}`),
    )
  expect(words(separateMounts, '8:pids:/\n4:memory:/\n1:cpuacct,cpu:/\n')).toEqual([
    'memory.limit_in_bytes=536870912',
    'memory.memsw.limit_in_bytes=536870912',
    'cpu.cfs_period_us=100000',
    'cpu.cfs_quota_us=200000',
    'pids.max=1024',
  ])
  expect(words('41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n', '0::/\n')).toEqual([
    'memory.max=536870912',
    'memory.swap.max=0',
    'cpu.max=200000 100000',
    'pids.max=1024',
  ])
})

test('all sandboxes share one CPU weight, scaled for each cgroup version', () => {
  const weights = (mounts: string, memberships: string, cpuWeight: number) =>
    createCgroupCandidates({ mounts, memberships }, cpuWeight)
      .controllers.flatMap(([candidate]) => candidate?.prepare ?? [])
      .filter(({ file }) => file.startsWith('cpu.'))
      .map(({ to, file, value }) => `${to}: ${file}=${value}`)
  const version1 = '8:pids:/\n4:memory:/\n1:cpuacct,cpu:/\n'
  expect(weights(separateMounts, version1, 25)).toEqual(['parent: cpu.shares=256'])
  expect(weights(separateMounts, version1, 1)).toEqual(['parent: cpu.shares=10'])
  const version2 = '41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n'
  expect(weights(version2, '0::/\n', 25)).toEqual(['parent: cpu.weight=25'])
})
