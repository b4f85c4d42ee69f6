import { expect, test } from 'vitest'
import { type CgroupFacts, describeCgroupGap } from './limitGaps.ts'

const ada = { uid: 1000, user: 'ada' }
const controllers = ['cpu', 'memory', 'pids']
const unified: CgroupFacts = {
  ...ada,
  version: 2,
  unit: undefined,
  ofKernel: controllers,
  ofManager: controllers,
  isReadOnly: false,
}

test.each<[why: string, limit: 'memory' | 'cpu', facts: CgroupFacts, reason: RegExp, cure: string | null]>([
  ['no control groups', 'memory', { ...ada, version: undefined }, /no control groups/, null],
  ['version 1', 'cpu', { ...ada, version: 1 }, /only root/, 'systemd.unified_cgroup_hierarchy=1'],
  ['a container', 'memory', { ...unified, isReadOnly: true }, /read-only/, null],
  ['the kernel', 'memory', { ...unified, ofKernel: ['cpu'] }, /kernel was booted without/, 'cgroup_enable=memory'],
  [
    'a system unit',
    'memory',
    { ...unified, unit: 'steward.service' },
    /the unit steward\.service/,
    'sudo mkdir -p /etc/systemd/system/steward.service.d',
  ],
  [
    'no manager',
    'memory',
    { ...unified, ofManager: undefined },
    /ada has no running systemd user manager/,
    'sudo loginctl enable-linger ada',
  ],
  [
    'a manager without it',
    'cpu',
    { ...unified, ofManager: ['memory', 'pids'] },
    /control group `cpu` is not delegated/,
    'Delegate=cpu cpuset io memory pids',
  ],
  ['a manager that is silent', 'cpu', unified, /did not create a scope for Steward/, null],
  [
    'nothing known',
    'cpu',
    { ...unified, uid: 0, user: 'root', ofManager: undefined },
    /not allowed to create control groups/,
    null,
  ],
])('explains an unenforced limit: %s', (_, limit, facts, reason, cure) => {
  const gap = describeCgroupGap(limit, facts)
  expect(gap.limit).toBe(limit)
  expect(gap.reason).toMatch(limit === 'memory' ? /^Memory is not limited: / : /^The processor is not limited: /)
  expect(gap.reason).toMatch(reason)
  expect(gap.cure).toEqual(cure === null ? null : expect.stringContaining(cure))
})
