import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { openDatabase } from './openDatabase.ts'

/** Creates a database and overwrites its last page. */
function createDamagedFile(): string {
  const file = join(temporaryFolder('database'), 'service.sqlite')
  const database = openDatabase(file)
  database.exec('CREATE TABLE notes (text TEXT) STRICT; CREATE INDEX notes_text ON notes (text)')
  const add = database.prepare('INSERT INTO notes VALUES (?)')
  for (let count = 0; count < 200; count++) add.run(`${count} `.repeat(40))
  const pages = database.pragma('page_count', { simple: true })
  const pageSize = database.pragma('page_size', { simple: true })
  database.close()
  const opened = openSync(file, 'r+')
  writeSync(opened, Buffer.alloc(512, 0xff), 0, 512, (Number(pages) - 1) * Number(pageSize))
  closeSync(opened)
  return file
}

test('a check reports a damaged page with its file and a fix', () => {
  const file = createDamagedFile()
  openDatabase(file).close()
  expect(() => openDatabase(file, { check: true })).toThrow(
    expect.objectContaining({
      code: 'data/damaged',
      message: expect.stringContaining(file),
      hint: expect.stringContaining('npm start -- restore DIR'),
    }),
  )
})

test('a check of an intact database passes', () => {
  const file = join(temporaryFolder('database'), 'service.sqlite')
  openDatabase(file).close()
  openDatabase(file, { check: true }).close()
})
