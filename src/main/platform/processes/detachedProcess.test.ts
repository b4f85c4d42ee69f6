import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '#test/support/assertions/eventually.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { launchDetached } from './detachedProcess.ts'

test('runs the program in its own session with its input and a log file', async () => {
  const folder = temporaryFolder('detached')
  const entry = join(folder, 'entry.mjs')
  const done = join(folder, 'done')
  const logFile = join(folder, 'program.log')
  writeFileSync(
    entry,
    `import { readFileSync, writeFileSync } from 'node:fs'
     const session = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[3]
     console.log(JSON.stringify({ session: Number(session), args: process.argv.slice(2), ...process.env }))
     console.error('and its errors')
     writeFileSync(${JSON.stringify(done)}, '')`,
  )
  const pid = await launchDetached({
    entry,
    args: ['a', 'b c'],
    logFile,
    environment: { GIVEN: 'yes', ABSENT: undefined },
  })
  await until('the program to be done', () => existsSync(done))
  const [first, second] = readFileSync(logFile, 'utf8').split('\n')
  const said = JSON.parse(first ?? '')
  expect(said).toMatchObject({ session: pid, args: ['a', 'b c'], GIVEN: 'yes', ELECTRON_RUN_AS_NODE: '1' })
  expect(said).not.toHaveProperty('HOME')
  expect(second).toBe('and its errors')
  expect(statSync(logFile).mode & 0o777).toBe(0o600)
  await until(
    'its end',
    () => !existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '),
  )
})

test('rejects a log file that cannot be opened and starts nothing', async () => {
  const launching = launchDetached({ entry: 'x', args: [], logFile: '/nonexistent/folder/log', environment: {} })
  await expect(launching).rejects.toMatchObject({ code: 'ENOENT' })
})
