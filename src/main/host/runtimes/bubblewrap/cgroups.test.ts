import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { type CgroupController, canUse, createCgroups, parentCgroupName } from './cgroups.ts'

test('a probe removes its group and those of killed probes', async () => {
  const parent = temporaryFolder('cgroups')
  const { pid: dead } = spawnSync(process.execPath, ['--version'])
  const mine = `steward-probe-${process.pid}-00000000`
  for (const name of [`steward-probe-${dead}-00000000`, mine, 'steward-sbx_1']) mkdirSync(join(parent, name))
  const controller = controllerIn(parent, { parent })
  // A folder that is not a cgroup has no such files.
  expect(await canUse(controller, '/bin/sh')).toBe(false)
  expect(readdirSync(parent).sort()).toEqual([mine, 'steward-sbx_1'])
})

test('reverts a prepared setting after a failed probe unless it was set before', async () => {
  const prepareGroup = async (before: string): Promise<string> => {
    const folder = temporaryFolder('cgroups')
    writeFileSync(join(folder, 'cgroup.subtree_control'), before)
    expect(await canUse(controllerIn(folder), '/bin/sh')).toBe(false)
    expect(readdirSync(folder)).toEqual(['cgroup.subtree_control'])
    return readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8')
  }
  expect(await prepareGroup('pids')).toBe('-memory')
  expect(await prepareGroup('memory')).toBe('+memory')
})

test('groups created and removed concurrently below one parent all get its settings', async ({ skip }) => {
  const group = makeRealGroup()
  if (!group) return skip('this user cannot create cgroups here')
  const setting = { file: group.file, value: '700' }
  const controller = controllerIn(group.folder, {
    // Uses many settings so that other members join and leave the group during the writes.
    prepare: Array.from({ length: 40 }, () => ({ to: 'parent', ...setting }) as const),
    settings: () => [setting],
  })
  const limits = { memoryMb: 1, vcpu: 1, processes: 1 }
  const makeAndRemove = async (name: string): Promise<string[]> => {
    const { folders, remove } = await createCgroups([controller], name, limits)
    const values = [controller.parent, ...folders].map((folder) =>
      readFileSync(join(folder, group.file), 'utf8').trim(),
    )
    await remove()
    return values
  }
  for (let round = 0; round < 40; round += 1) {
    const values = await Promise.all(
      Array.from({ length: 8 }, (_, index) => makeAndRemove(`steward-${round}-${index}`)),
    )
    expect(values.flat().every((value) => value === '700')).toBe(true)
  }
  expect(existsSync(controller.parent)).toBe(false)
})

/**
 * Creates a real cgroup with a file that accepts numbers.
 * @returns the group, or undefined if this user cannot create one
 */
function makeRealGroup(): { folder: string; file: string } | undefined {
  const [root, file] = existsSync('/sys/fs/cgroup/cgroup.controllers')
    ? ['/sys/fs/cgroup', 'cgroup.max.depth']
    : ['/sys/fs/cgroup/cpu', 'cpu.shares']
  const folder = join(root, `steward-test-${process.pid}`)
  try {
    mkdirSync(folder)
  } catch {
    return undefined
  }
  onTestFinished(() => rmdirSync(folder))
  return { folder, file }
}

function controllerIn(folder: string, changes: Partial<CgroupController> = {}): CgroupController {
  return {
    path: folder,
    parent: join(folder, parentCgroupName),
    prepare: [{ to: 'root', file: 'cgroup.subtree_control', value: '+memory' }],
    undo: { file: 'cgroup.subtree_control', value: '-memory' },
    enforces: [],
    joinFile: 'cgroup.procs',
    settings: () => [{ file: 'memory.max', value: '1' }],
    release: [],
    ...changes,
  }
}
