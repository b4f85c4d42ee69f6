import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { commandAs, withIds } from '../support/processes/runAsUser.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

skipWhen(process.getuid?.() === 0 ? undefined : 'it becomes a user with subordinate ids, which needs root')

/** The project is mounted at `/mnt` for that user, who cannot write to it. */
const options = ['run', '--root', '/mnt', '--configLoader', 'runner', '--cache=false', '--reporter=json']

test('sandboxes with separate ids satisfy the runtime contract', async () => {
  const folder = temporaryFolder('contract')
  const report = join(folder, 'home', 'report.json')
  const [command = '', ...parts] = await commandAs({
    script: 'node_modules/vitest/vitest.mjs',
    parts: [...options, `--outputFile=${report}`, '--project', 'contract', 'test/contract/bubblewrap.test.ts'],
    folder,
    user: withIds,
  })
  const running = promisify(execFile)(command, parts, { cwd: '/', timeout: 220_000, maxBuffer: 1 << 26 })
  // A failing test makes the command fail. The report names the test.
  const { stderr } = await running.catch((error: { stderr: string }) => error)
  const { numTotalTests, numPassedTests, numPendingTests, testResults } = JSON.parse(await readFile(report, 'utf8'))
  const failed = testResults.flatMap((file: { assertionResults: { status: string; fullName: string }[] }) =>
    file.assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  )
  expect(failed, stderr).toEqual([])
  expect(numPassedTests).toBeGreaterThan(60)
  expect(numPassedTests + numPendingTests).toBe(numTotalTests)
})
