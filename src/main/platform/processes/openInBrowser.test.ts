import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { until } from '#test/support/assertions/eventually.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { openInBrowser } from './openInBrowser.ts'

const url = 'http://127.0.0.1:4100/#token=secret-of-the-start'

/** Creates an environment whose `xdg-open` records the arguments that all users can read. */
function sandbox(variables: Record<string, string> = { DISPLAY: ':9' }) {
  const home = temporaryFolder('home')
  const programs = temporaryFolder('programs')
  const said = join(temporaryFolder('said'), 'arguments')
  const script = `#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/cmdline > '${said}.new' && mv '${said}.new' '${said}'\n`
  for (const name of ['xdg-open', 'open']) writeFileSync(join(programs, name), script, { mode: 0o755 })
  const environment = { PATH: `${programs}:/usr/bin:/bin`, HOME: home, ...variables }
  const waitUntilOpened = () => until('the browser to be asked', () => read(said))
  return { home, environment, opened: waitUntilOpened }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

const whenReadable = test.skipIf(process.platform !== 'linux')

whenReadable('the token of the address is in no arguments, but in a page that the person alone can read', async () => {
  const { home, environment, opened } = sandbox()
  const page = await openInBrowser(url, environment)
  const said = await opened()
  expect(said).not.toContain('token')
  const file = fileURLToPath(said.trim().split('\n').at(-1) ?? '')
  expect(dirname(dirname(file))).toBe(home)
  expect(file).not.toMatch(/\/\./)
  expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700])
  const text = readFileSync(file, 'utf8')
  expect(text).toContain(`<meta http-equiv="refresh" content="0; url=${url}">`)
  expect(text).toContain("default-src 'none'")

  await page.remove()
  expect(readdirSync(home)).toEqual([])
  await page.remove()
})

whenReadable('other users cannot read it', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('only root can become another user')
  const { environment, opened } = sandbox()
  const page = await openInBrowser(url, environment)
  const file = fileURLToPath((await opened()).trim().split('\n').at(-1) ?? '')
  expect(() => execFileSync('cat', [file], { uid: 65534, gid: 65534, stdio: 'pipe' })).toThrow(/Permission denied/)
  await page.remove()
})

whenReadable('without a display nothing is written', async () => {
  const { home, environment } = sandbox({})
  await (await openInBrowser(url, environment)).remove()
  expect(readdirSync(home)).toEqual([])
})

whenReadable('a home that cannot be written to leaves the printed address', async () => {
  const { home, environment } = sandbox()
  const file = join(home, 'file')
  writeFileSync(file, '')
  await (await openInBrowser(url, { ...environment, HOME: file })).remove()
  expect(readdirSync(home)).toEqual(['file'])
})
