import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/temporaryFolder.ts'
import { type CgroupController, canUse, commonName } from './cgroups.ts'

test('trying leaves nothing, nor what was left by processes that were killed while they tried', async () => {
  const parent = temporaryFolder('cgroups')
  const { pid: dead } = spawnSync(process.execPath, ['--version'])
  const mine = `steward-probe-${process.pid}-00000000`
  for (const name of [`steward-probe-${dead}-00000000`, mine, 'steward-sbx_1']) mkdirSync(join(parent, name))
  const controller = controllerIn(parent, { parent })
  // A folder that is no cgroup has no such files.
  expect(await canUse(controller, '/bin/sh')).toBe(false)
  expect(readdirSync(parent).sort()).toEqual([mine, 'steward-sbx_1'])
})

test('what was prepared in vain is undone, unless it was so before', async () => {
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

function controllerIn(folder: string, changes: Partial<CgroupController> = {}): CgroupController {
  return {
    path: folder,
    parent: join(folder, commonName),
    prepare: [{ to: 'place', file: 'cgroup.subtree_control', value: '+memory' }],
    undo: { file: 'cgroup.subtree_control', value: '-memory' },
    enforces: [],
    joinFile: 'cgroup.procs',
    settings: () => [{ file: 'memory.max', value: '1' }],
    release: [],
    ...changes,
  }
}
