import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { readDatabaseUrl } from './databaseConfig.ts'

function writeUrl(text: string, mode = 0o600): string {
  const file = join(temporaryFolder('database-url'), 'url')
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

test('without a file, the database is SQLite', () => {
  expect(readDatabaseUrl({ url_file: null })).toBeUndefined()
})

test.each([
  'postgresql://steward:secret@127.0.0.1:5432/steward',
  'postgres://steward@localhost/steward',
  'postgresql:///steward?host=/var/run/postgresql',
  'postgresql://steward@%2Fvar%2Frun%2Fpostgresql/steward',
  'postgresql://steward:secret@db.example/steward?sslmode=verify-full',
])('accepts %s', (url) => {
  expect(readDatabaseUrl({ url_file: writeUrl(`${url}\n`) })).toBe(url)
})

test.each([
  ['mysql://steward:secret@127.0.0.1/steward', 'must contain postgresql://USER@HOST/DATABASE'],
  ['postgresql://steward:secret@127.0.0.1', 'must contain postgresql://USER@HOST/DATABASE'],
  ['', 'must contain postgresql://USER@HOST/DATABASE'],
  ['postgresql://steward:secret@db.example/steward', 'sslmode=verify-full'],
  ['postgresql://steward:secret@db.example/steward?sslmode=require', 'sslmode=verify-full'],
  ['postgresql://steward:secret@127.0.0.1/steward?host=db.example', 'sslmode=verify-full'],
])('refuses %s without quoting it', (url, reason) => {
  const read = () => readDatabaseUrl({ url_file: writeUrl(url) })
  expect(read).toThrow(reason)
  expect(read).not.toThrow('secret')
})

test('refuses a file that others can read', () => {
  const file = writeUrl('postgresql://steward:secret@127.0.0.1/steward', 0o644)
  expect(() => readDatabaseUrl({ url_file: file })).toThrow('can be read by other users')
  expect(() => readDatabaseUrl({ url_file: `${file}-missing` })).toThrow('cannot be read')
})
