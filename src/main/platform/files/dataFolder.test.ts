import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { getDefaultDataFolder, openDataFolder, openFolderWarning } from './dataFolder.ts'

test.each([
  ['linux', {}, '/home/ada/.local/share/steward'],
  ['linux', { XDG_DATA_HOME: '/data' }, '/data/steward'],
  ['linux', { XDG_DATA_HOME: 'relative' }, '/home/ada/.local/share/steward'],
  ['darwin', {}, '/home/ada/Library/Application Support/Steward'],
  ['win32', { APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' }, 'C:\\Users\\ada\\AppData\\Roaming\\Steward'],
] as const)('on %s with %o the data folder is %s', (platform, environment, expected) => {
  expect(getDefaultDataFolder({ platform, home: '/home/ada', environment })).toBe(expected)
})

test('creates the folder for this user only', async () => {
  const folder = join(temporaryFolder('data'), 'deep', 'steward')
  await openDataFolder(folder)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  await openDataFolder(folder)
})

test('reports a path that is not a folder', async () => {
  const file = join(temporaryFolder('data'), 'file')
  writeFileSync(file, '')
  await expect(openDataFolder(file)).rejects.toMatchObject({ code: 'data/unusable' })
})

test('warns about a folder readable by other users, with the command that closes it', async () => {
  const folder = temporaryFolder('data')
  chmodSync(folder, 0o755)
  await openDataFolder(folder)
  const warning = await openFolderWarning(folder)
  expect(warning).toContain(`the data folder ${folder} (mode 755)`)
  expect(warning).toContain(`\`chmod 700 ${folder}\``)
  chmodSync(folder, 0o700)
  expect(await openFolderWarning(folder)).toBeUndefined()
})
