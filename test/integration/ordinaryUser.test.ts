import { execFile } from 'node:child_process'
import { chown, copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { leftovers } from '../support/leftovers.ts'
import { machineSpec } from '../support/machines.ts'
import { projectFolder } from '../support/plantedTree.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

const ordinaryUid = 12_345

test('an ordinary user makes, uses and removes a sandbox', async () => {
  const corePattern = await readFile('/proc/sys/kernel/core_pattern', 'utf8')
  const { id } = machineSpec()
  const data = temporaryFolder('ordinary')
  const folder = join(data, 'machines')
  const [program = '', ...rest] = await command(data, [folder, id])
  const { stdout } = await promisify(execFile)(program, rest, { cwd: '/', timeout: 200_000 })
  const seen = JSON.parse(stdout)

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

/**
 * As root, becomes somebody else first. The project and Node may lie where nobody else may go: the one is mounted
 * elsewhere for this process alone, the other copied.
 */
async function command(data: string, parts: string[]): Promise<string[]> {
  const script = 'test/support/ordinaryUser.ts'
  if (process.getuid?.() !== 0) return [process.execPath, join(projectFolder, script), ...parts]
  const home = join(data, 'home')
  await mkdir(home)
  const node = join(data, 'node')
  await copyFile(process.execPath, node)
  for (const path of [data, home, node]) await chown(path, ordinaryUid, ordinaryUid)
  const uid = String(ordinaryUid)
  const become = ['setpriv', '--reuid', uid, '--regid', uid, '--clear-groups', 'env', '-i', `HOME=${home}`]
  const enter = ['unshare', '--mount', 'sh', '-c', 'mount --bind "$1" /mnt && shift && exec "$@"', 'sh', projectFolder]
  return [...enter, ...become, 'PATH=/usr/bin:/bin', node, join('/mnt', script), ...parts]
}
