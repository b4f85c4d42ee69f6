import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { readPrivateFile } from './privateFile.ts'

const folder = temporaryFolder('private-file')
let files = 0
function writeFile(text = 's3cret', mode = 0o600): string {
  const file = join(folder, `key-${++files}`)
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

test('reads a file that only this user can access', () => {
  expect(readPrivateFile(writeFile())).toBe('s3cret')
  expect(readPrivateFile(writeFile('s3cret', 0o400))).toBe('s3cret')
})

test.each([
  ['that others can read', () => writeFile('s3cret', 0o604), /can be read by other users/],
  ['that its group can read', () => writeFile('s3cret', 0o640), /can be read by other users/],
  ['that others can write', () => writeFile('s3cret', 0o602), /can be read by other users/],
  ['that is not there', () => join(folder, 'none'), /cannot be read/],
  ['that is too large', () => writeFile('s3cret'.repeat(10_000)), /too large/],
  [
    'that is a link to one',
    () => {
      const link = join(folder, 'link')
      symlinkSync(writeFile(), link)
      return link
    },
    /symbolic link/,
  ],
  [
    'that is a folder',
    () => {
      const createdPath = join(folder, 'made')
      mkdirSync(createdPath, { mode: 0o700 })
      return createdPath
    },
    /not a regular file/,
  ],
  [
    'that is a pipe without a writer',
    () => {
      const pipe = join(folder, 'pipe')
      execFileSync('mkfifo', ['-m', '600', pipe], { stdio: 'ignore' })
      return pipe
    },
    /not a regular file/,
  ],
])('a file %s is rejected without revealing its content', (_, make, message) => {
  const read = () => readPrivateFile(make())
  expect(read).toThrow(message)
})

test('rejects a file of another user', (context) => {
  if (process.getuid?.() !== 0) context.skip('Only root can give a file away.')
  const file = writeFile()
  chownSync(file, 65534, 65534)
  expect(() => readPrivateFile(file)).toThrow(/another user/)
})
