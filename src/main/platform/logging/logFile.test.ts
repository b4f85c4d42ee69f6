import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { openLogFile } from './logFile.ts'

test('keeps the latest file and two before it', () => {
  const folder = temporaryFolder('log')
  const path = join(folder, 'main.log')
  const file = openLogFile(path, 8)
  for (const line of ['first\n', 'second\n', 'third\n', 'fourth\n', 'fifth\n', 'sixth\n', 'seventh\n']) file.write(line)
  file.close()
  file.write('after the end')
  expect(readdirSync(folder).sort()).toEqual(['main.log', 'main.log.1', 'main.log.2'])
  expect(readFileSync(`${path}.2`, 'utf8')).toBe('third\nfourth\n')
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('fifth\nsixth\n')
  expect(readFileSync(path, 'utf8')).toBe('seventh\n')
})
