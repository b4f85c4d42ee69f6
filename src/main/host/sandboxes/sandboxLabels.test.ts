import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SandboxLabel } from '#shared/contract/hostIpc.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createSandboxLabels } from './sandboxLabels.ts'

const label = SandboxLabel.parse({
  id: 'ab'.repeat(16),
  databaseId: 'cd'.repeat(16),
  accountId: `acct_${'e'.repeat(24)}`,
  name: 'atlas',
  region: 'eu-north',
  runtime: 'bubblewrap',
  vcpu: 1,
  memoryMb: 512,
  diskGb: 1,
  image: null,
  network: 'none',
  idleMinutes: null,
  createdAtMs: 1,
  snapshots: [],
})

test('keeps a label readable by this user only until its sandbox is deleted', async () => {
  const folder = join(temporaryFolder('labels'), 'labels')
  const labels = createSandboxLabels(folder)
  expect(await labels.find(label.id)).toBeUndefined()
  await labels.save(label)
  expect(await labels.find(label.id)).toEqual(label)
  expect(statSync(join(folder, `${label.id}.json`)).mode & 0o777).toBe(0o600)
  await labels.save({ ...label, name: 'renamed' })
  expect((await labels.find(label.id))?.name).toBe('renamed')
  await labels.remove(label.id)
  await labels.remove(label.id)
  expect(await labels.find(label.id)).toBeUndefined()
})

test('ignores a file that is not a label of this sandbox', async () => {
  const folder = join(temporaryFolder('labels'), 'labels')
  mkdirSync(folder)
  const file = join(folder, `${label.id}.json`)
  for (const text of ['', '{', '{}', JSON.stringify({ ...label, id: 'ff'.repeat(16) })]) {
    writeFileSync(file, text)
    expect(await createSandboxLabels(folder).find(label.id)).toBeUndefined()
    expect(readFileSync(file, 'utf8')).toBe(text)
  }
})
