import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'

type Ended = { code: number; out: string; said: string; started: boolean }

function headless(...parts: string[]): Promise<Ended> {
  const data = join(temporaryFolder('headless-line'), 'data')
  return new Promise((resolve) => {
    const program = ['src/main/entries/headless.ts', ...parts, '--data', data]
    execFile(process.execPath, program, { cwd: projectFolder }, (error, out, said) =>
      resolve({ code: Number(error?.code ?? 0), out, said, started: existsSync(data) }),
    )
  })
}

test('--help lists the options and starts nothing', async () => {
  const { code, out, said, started } = await headless('--help')
  expect({ code, said, started }).toEqual({ code: 0, said: '', started: false })
  expect(out).toContain('node out/main/headless.js [options]')
  expect(out).toContain('--listen HOST:PORT')
})

test.each([
  ['--no-such', 'Unknown option --no-such.'],
  ['stop', 'stop is not available here. Use `npm start -- stop`.'],
  ['nonsense', 'Unknown command nonsense.'],
])('%s is rejected with a message and starts nothing', async (part, message) => {
  const { code, out, said, started } = await headless(part)
  expect({ code, out, started }).toEqual({ code: 2, out: '', started: false })
  expect(said).toContain(message)
})
