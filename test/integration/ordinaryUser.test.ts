import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listSandboxResources } from '../support/assertions/sandboxResources.ts'
import { createSandboxSpec } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { runAndParse } from '../support/processes/runAsUser.ts'

test('an ordinary user creates, uses and removes a sandbox', async () => {
  const corePattern = await readFile('/proc/sys/kernel/core_pattern', 'utf8')
  const { id } = createSandboxSpec()
  const data = temporaryFolder('ordinary')
  const folder = join(data, 'machines')
  const result = await runAndParse({
    script: 'test/support/processes/ordinaryUserSandbox.ts',
    parts: [folder, id],
    folder: data,
    user: 'an ordinary user',
  })

  expect(result.user).not.toBe(0)
  expect(result.report).toMatchObject({ available: true, name: 'bubblewrap' })
  expect(result.who).toMatchObject({ code: 0, err: '' })
  expect(result.who.out.trim().split(/\s+/)).toEqual(['0', '0', String(result.user), '1'])
  expect(result.attempt.code).not.toBe(0)
  expect(await readFile('/proc/sys/kernel/core_pattern', 'utf8')).toBe(corePattern)
  expect(result.enforced.processes).toBe(true)
  expect(result.processes).toBeGreaterThan(500)
  expect(result.processes).toBeLessThanOrEqual(1024)
  expect(result.usage.processes).toBeGreaterThanOrEqual(1)
  expect(result.usage.memoryBytes).toBeGreaterThan(0)
  expect(result.file).toBe('content')
  expect(result.kept).toBe('content')
  expect(result.enforced.disk).toBe(false)
  expect(result.report.detail).toContain('Disk limits of sandboxes are not enforced: only root can mount disk images.')
  expect(result.report.limit_gaps.map(({ limit }: { limit: string }) => limit).sort()).toEqual(
    Object.keys(result.report.enforced)
      .filter((limit) => !result.report.enforced[limit])
      .sort(),
  )
  expect(result.snapshotBytes).toBeGreaterThan(0)
  expect(result.restored).toEqual(['contentclosed\nbox\nfifo\n', 'contentclosed\nfork\nfifo\n'])
  expect(result.screen).toMatch(/^\/dev\/pts\/\d+\r\n30 100\r\n$/)
  expect(result.ended).toEqual({ exitCode: 4, signal: null })
  expect(result.stored).toEqual([])
  expect(await listSandboxResources({ id, folder })).toEqual([])
})
