import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSandboxSpec } from '#test/support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createSandboxFolders } from './sandboxFolder.ts'

/** Creates files that a killed host or an earlier version may leave behind. */
function createStored(files: Record<string, string>) {
  const base = temporaryFolder('folders')
  const { id } = createSandboxSpec()
  const all = { 'machine.json': JSON.stringify({ version: 1, uid: null }), ...files }
  for (const [name, content] of Object.entries(all)) {
    const path = join(base, id, name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, content)
  }
  const folders = createSandboxFolders(base)
  const content = async (): Promise<string> => {
    const { storage } = await folders.find(id)
    expect(storage.kind).toBe('folder')
    return readFileSync(join(storage.path, 'root/file'), 'utf8')
  }
  return { id, folders, content, names: () => readdirSync(join(base, id)).toSorted() }
}

test('finds a sandbox of the first version and moves its files for snapshots', async () => {
  const { id, folders, content, names } = createStored({ 'root/file': 'first', 'usr-local/file': 'own' })
  expect(await content()).toBe('first')
  await folders.mend(id)
  await folders.mend(id)
  expect(names()).toEqual(['files', 'machine.json'])
  expect(await content()).toBe('first')
  expect(readFileSync(join((await folders.find(id)).storage.path, 'usr-local/file'), 'utf8')).toBe('own')
})

test('resumes an interrupted move', async () => {
  const { id, folders, content, names } = createStored({ 'root/file': 'first', 'files.moving/usr-local/file': 'own' })
  expect(await content()).toBe('first')
  await folders.mend(id)
  expect(names()).toEqual(['files', 'machine.json'])
  expect(await content()).toBe('first')
})

test.each([
  ['before the old files were moved away', { 'files/root/file': 'old', 'files.new/root/file': 'new' }, 'old'],
  ['between the two moves', { 'files.old/root/file': 'old', 'files.new/root/file': 'new' }, 'new'],
  ['before the old files were removed', { 'files/root/file': 'new', 'files.old/root/file': 'old' }, 'new'],
])('recovers an interrupted replacement to all old or all new files: %s', async (_, files, expected) => {
  const { id, folders, content, names } = createStored({ ...files, 'files.new.part/root/file': 'half' })
  await folders.mend(id)
  expect(await content()).toBe(expected)
  expect(names()).toEqual(['files', 'machine.json'])
})

test('removes partial copies and keeps complete ones', async () => {
  const snapshots = { 'snapshots/snap_1.ext4': 'whole', 'snapshots/snap_2.ext4.part': 'half' }
  const { id, folders, names } = createStored({ 'disk.ext4': 'disk', 'disk.ext4.part': 'half', ...snapshots })
  await folders.mend(id)
  expect(names()).toEqual(['disk.ext4', 'machine.json', 'snapshots'])
  expect(readdirSync(join(folders.getPath(id), 'snapshots'))).toEqual(['snap_1.ext4'])
})
