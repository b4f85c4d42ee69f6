import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** No entry in passwd has this uid. */
const uid = 54_321
const program = `
import { createDockerEngine } from ${JSON.stringify(new URL('./dockerEngine.ts', import.meta.url).href)}
import { defaultDocker } from ${JSON.stringify(new URL('./dockerOptions.ts', import.meta.url).href)}
await createDockerEngine(defaultDocker).address().then(
  () => process.stdout.write('found'),
  ({ code }) => process.stdout.write(code),
)
`

test('finds an engine as a user without a passwd entry, as in containers', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('only root can become another user')
  const options = { uid, gid: uid, cwd: '/', env: { HOME: '/' } }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], options)
  expect(stdout).toMatch(/^(found|runtime\/unavailable)$/)
})
