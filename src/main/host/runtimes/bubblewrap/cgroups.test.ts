import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporaryFolder.ts'
import { type CgroupController, canUse } from './cgroups.ts'

test('trying leaves nothing, nor what was left by processes that were killed while they tried', async () => {
  const parent = temporaryFolder('cgroups')
  const { pid: dead } = spawnSync(process.execPath, ['--version'])
  const mine = `steward-probe-${process.pid}-00000000`
  for (const name of [`steward-probe-${dead}-00000000`, mine, 'steward-sbx_1']) mkdirSync(join(parent, name))
  const controller: CgroupController = {
    parent,
    prepare: [],
    enforces: [],
    joinFile: 'cgroup.procs',
    settings: () => [{ file: 'memory.max', value: '1' }],
    release: [],
  }
  // A folder that is no cgroup has no such files.
  expect(await canUse(controller, '/bin/sh')).toBe(false)
  expect(readdirSync(parent).sort()).toEqual([mine, 'steward-sbx_1'])
})
