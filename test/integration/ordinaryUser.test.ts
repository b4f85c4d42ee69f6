import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printedAs } from '../support/asUser.ts'
import { leftovers } from '../support/leftovers.ts'
import { machineSpec } from '../support/machines.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

test('an ordinary user makes, uses and removes a sandbox', async () => {
  const corePattern = await readFile('/proc/sys/kernel/core_pattern', 'utf8')
  const { id } = machineSpec()
  const data = temporaryFolder('ordinary')
  const folder = join(data, 'machines')
  const seen = await printedAs({
    script: 'test/support/ordinaryUser.ts',
    parts: [folder, id],
    folder: data,
    user: 'an ordinary user',
  })

  expect(seen.user).not.toBe(0)
  expect(seen.report).toMatchObject({ available: true, name: 'bubblewrap' })
  expect(seen.who).toMatchObject({ code: 0, err: '' })
  expect(seen.who.out.trim().split(/\s+/)).toEqual(['0', '0', String(seen.user), '1'])
  expect(seen.attempt.code).not.toBe(0)
  expect(await readFile('/proc/sys/kernel/core_pattern', 'utf8')).toBe(corePattern)
  expect(seen.enforced.processes).toBe(true)
  expect(seen.processes).toBeGreaterThan(500)
  expect(seen.processes).toBeLessThanOrEqual(1024)
  expect(seen.usage.processes).toBeGreaterThanOrEqual(1)
  expect(seen.usage.memoryBytes).toBeGreaterThan(0)
  expect(seen.file).toBe('content')
  expect(seen.kept).toBe('content')
  expect(seen.enforced.disk).toBe(false)
  expect(seen.report.detail).toContain(
    'The disk size of sandboxes does not hold here: only root may mount disk images.',
  )
  expect(seen.report.limit_gaps.map(({ limit }: { limit: string }) => limit).sort()).toEqual(
    Object.keys(seen.report.enforced)
      .filter((limit) => !seen.report.enforced[limit])
      .sort(),
  )
  expect(seen.snapshotBytes).toBeGreaterThan(0)
  expect(seen.restored).toEqual(['contentclosed\nbox\nfifo\n', 'contentclosed\nfork\nfifo\n'])
  expect(seen.screen).toMatch(/^\/dev\/pts\/\d+\r\n30 100\r\n$/)
  expect(seen.ended).toEqual({ exitCode: 4, signal: null })
  expect(seen.stored).toEqual([])
  expect(await leftovers({ id, folder })).toEqual([])
})
