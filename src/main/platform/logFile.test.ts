import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporaryFolder.ts'
import { openLogFile } from './logFile.ts'

test('keeps the latest and the one before it', () => {
  const path = join(temporaryFolder('log'), 'main.log')
  const file = openLogFile(path, 8)
  for (const line of ['first\n', 'second\n', 'third\n', 'fourth\n', 'fifth\n']) file.write(line)
  file.close()
  file.write('after the end')
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('third\nfourth\n')
  expect(readFileSync(path, 'utf8')).toBe('fifth\n')
})
