import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/temporaryFolder.ts'
import { assertOwnFolder, assertOwnFolderSync } from './ownFolder.ts'

const foreignUid = 65_534

/** Ordinary users can give nothing away: the root folder is another's, too. */
function foreignFolder(): string {
  if (process.getuid?.() !== 0) return '/'
  const folder = temporaryFolder('foreign')
  chownSync(folder, foreignUid, foreignUid)
  return folder
}

test('a folder of this user is taken', async () => {
  await expect(assertOwnFolder(temporaryFolder('own'))).resolves.toBeUndefined()
})

test('a folder of another user is refused by name', async () => {
  const folder = foreignFolder()
  await expect(assertOwnFolder(folder)).rejects.toMatchObject({
    code: 'data/unusable',
    message: `${folder} belongs to another user.`,
  })
})

test('a link that another user made is refused, wherever it leads', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('only root can give a link to another user')
  const parent = temporaryFolder('linked')
  const link = join(parent, 'link')
  mkdirSync(join(parent, 'own'))
  symlinkSync(join(parent, 'own'), link)
  lchownSync(link, foreignUid, foreignUid)
  await expect(assertOwnFolder(link)).rejects.toMatchObject({ code: 'data/unusable' })
})

test('a folder into which others may put files is refused', async () => {
  const folder = temporaryFolder('open')
  chmodSync(folder, 0o777)
  await expect(assertOwnFolder(folder)).rejects.toMatchObject({ code: 'data/unusable' })
  expect(() => assertOwnFolderSync(folder)).toThrow(`Other users may put files into ${folder}.`)
})

test('a link of this user to a folder of this user is taken, one to a foreign folder is not', async () => {
  const parent = temporaryFolder('links')
  mkdirSync(join(parent, 'own'), { mode: 0o711 })
  symlinkSync(join(parent, 'own'), join(parent, 'link'))
  symlinkSync(foreignFolder(), join(parent, 'astray'))
  await expect(assertOwnFolder(join(parent, 'link'))).resolves.toBeUndefined()
  expect(() => assertOwnFolderSync(join(parent, 'link'))).not.toThrow()
  expect(() => assertOwnFolderSync(join(parent, 'astray'))).toThrow('belongs to another user')
})

test('a folder that is not there keeps the error of the system', async () => {
  await expect(assertOwnFolder(join(temporaryFolder('none'), 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
})
