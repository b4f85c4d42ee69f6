import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { assertOwnFolder, assertOwnFolderSync } from './ownFolder.ts'

const foreignUid = 65_534

/** Returns a folder that another user owns. Ordinary users cannot change ownership, so they use the root folder. */
function foreignFolder(): string {
  if (process.getuid?.() !== 0) return '/'
  const folder = temporaryFolder('foreign')
  chownSync(folder, foreignUid, foreignUid)
  return folder
}

test('accepts a folder of this user', async () => {
  await expect(assertOwnFolder(temporaryFolder('own'))).resolves.toBeUndefined()
})

test('rejects a folder of another user by name', async () => {
  const folder = foreignFolder()
  await expect(assertOwnFolder(folder)).rejects.toMatchObject({
    code: 'data/unusable',
    message: `${folder} belongs to another user.`,
  })
})

test('rejects a link created by another user regardless of its target', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('only root can give a link to another user')
  const parent = temporaryFolder('linked')
  const link = join(parent, 'link')
  mkdirSync(join(parent, 'own'))
  symlinkSync(join(parent, 'own'), link)
  lchownSync(link, foreignUid, foreignUid)
  await expect(assertOwnFolder(link)).rejects.toMatchObject({ code: 'data/unusable' })
})

test('rejects a folder in which other users can create files', async () => {
  const folder = temporaryFolder('open')
  chmodSync(folder, 0o777)
  await expect(assertOwnFolder(folder)).rejects.toMatchObject({ code: 'data/unusable' })
  expect(() => assertOwnFolderSync(folder)).toThrow(`Other users can write to ${folder}.`)
})

test('accepts a link of this user only to a folder of this user', async () => {
  const parent = temporaryFolder('links')
  mkdirSync(join(parent, 'own'), { mode: 0o711 })
  symlinkSync(join(parent, 'own'), join(parent, 'link'))
  symlinkSync(foreignFolder(), join(parent, 'astray'))
  await expect(assertOwnFolder(join(parent, 'link'))).resolves.toBeUndefined()
  expect(() => assertOwnFolderSync(join(parent, 'link'))).not.toThrow()
  expect(() => assertOwnFolderSync(join(parent, 'astray'))).toThrow('belongs to another user')
})

test('preserves the system error for a missing folder', async () => {
  await expect(assertOwnFolder(join(temporaryFolder('none'), 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
})
