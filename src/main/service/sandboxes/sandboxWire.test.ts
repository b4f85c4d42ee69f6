import { expect, test } from 'vitest'
import { SandboxId } from '#shared/ids.ts'
import type { SandboxRecord } from './sandboxRepository.ts'
import { createSandboxSpec, toHostname } from './sandboxWire.ts'

test.each([
  ['web server', 'web-server'],
  ['Ärger!', 'arger'],
  ['--a__b--', 'a-b'],
  ['日本', ''],
  ['x'.repeat(70), 'x'.repeat(63)],
  [`${'x'.repeat(62)} y`, 'x'.repeat(62)],
])('%s has the hostname %j', (name, hostname) => expect(toHostname(name)).toBe(hostname))

test('falls back to the id for a name without hostname characters', () => {
  const id = SandboxId.parse('1a2b3c4d'.repeat(4))
  const record = {
    id,
    name: '日本',
    runtime: 'bubblewrap',
    vcpu: 1,
    memoryMb: 512,
    diskGb: 1,
    image: null,
  } as SandboxRecord
  expect(createSandboxSpec(record).hostname).toBe('sandbox-1a2b3c4d')
})
