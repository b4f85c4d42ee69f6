import { cpSync, existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { exchange } from '../support/processes/runningService.ts'
import { createServiceProcess } from '../support/processes/serviceProcess.ts'

const cloned = [
  'src',
  'scripts',
  'resources',
  'package.json',
  'package-lock.json',
  'electron.vite.config.ts',
  'tsconfig.base.json',
  'tsconfig.json',
  'tsconfig.main.json',
  'tsconfig.renderer.json',
  'tsconfig.rendererTests.json',
  'tsconfig.shared.json',
]

test('a service in a fresh clone builds the page that its terminal links open', async () => {
  const clone = temporaryFolder('clone')
  for (const name of cloned) cpSync(join(projectFolder, name), join(clone, name), { recursive: true })
  symlinkSync(join(projectFolder, 'node_modules'), join(clone, 'node_modules'))
  const service = await createServiceProcess({ folder: clone, program: 'scripts/service.ts' })
  onTestFinished(() => service.close())
  expect(existsSync(join(clone, 'out/renderer/terminal.html'))).toBe(true)

  const sandbox = await service.send('/v1/sandboxes', { body: { name: 'linked' } })
  expect(sandbox.status, sandbox.text).toBe(201)
  const link = await service.send(`/v1/sandboxes/${sandbox.json.id}/terminal-session`, { method: 'POST' })
  const { pathname } = new URL(link.json.terminal_url)
  const page = await exchange(service.url, pathname, { key: null })
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  const [, script = ''] = /src="([^"]+\.js)"/.exec(page.text) ?? []
  expect((await exchange(service.url, new URL(script, service.url + pathname).pathname, { key: null })).status).toBe(
    200,
  )
})
