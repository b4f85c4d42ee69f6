import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { findHostTools } from './hostTools.ts'

test('names missing tools and how to install them', async () => {
  const folder = temporaryFolder('tools')
  writeFileSync(join(folder, 'perl'), '')
  expect(await findHostTools([folder])).toEqual({
    missing: 'Missing on this computer: bwrap, perl. On Debian and Ubuntu: apt-get install bubblewrap perl-base',
    cure: 'sudo apt-get install bubblewrap perl-base',
  })
  chmodSync(join(folder, 'perl'), 0o755)
  expect(await findHostTools([folder])).toEqual({
    missing: 'Missing on this computer: bwrap. On Debian and Ubuntu: apt-get install bubblewrap',
    cure: 'sudo apt-get install bubblewrap',
  })
})

test('uses the first executable of each tool', async () => {
  const [empty, folder] = [temporaryFolder('empty'), temporaryFolder('tools')]
  for (const name of ['perl', 'bwrap']) writeFileSync(join(folder, name), '', { mode: 0o755 })
  expect(await findHostTools([empty, folder])).toEqual({ bwrap: join(folder, 'bwrap'), perl: join(folder, 'perl') })
})
