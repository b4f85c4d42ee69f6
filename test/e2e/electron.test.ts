import { _electron } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { findElectronBinary, findWindowObstacle } from '#scripts/electronBinary.ts'
import { getLocalStatus } from '#shared/contract/localApi.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { startProgram } from '../support/processes/program.ts'
import { callInPage } from './pages/windowCalls.ts'

const reason =
  findWindowObstacle({ platform: process.platform, uid: process.getuid?.(), environment: process.env }) ??
  (findElectronBinary(process.env) === undefined ? 'Electron is not installed' : undefined)

test('the window opens and shows the interface, signed in', async (context) => {
  if (reason !== undefined) return context.skip(`no Electron window can be shown here: ${reason}`)
  const dataFolder = temporaryFolder('data')
  onTestFinished(async () => void (await startProgram('scripts/start.ts', ['stop', '--data', dataFolder]).ended))
  const running = await _electron.launch({
    executablePath: findElectronBinary(process.env) ?? '',
    args: ['out/main/main.js', '--data', dataFolder],
    cwd: projectFolder,
    timeout: 120_000,
  })
  onTestFinished(() => running.close())
  const page = await running.firstWindow()
  await page.waitForFunction(() => document.querySelector('#steward')?.childElementCount)
  expect(new URL(page.url()).hash).toBe('')
  const globals = await page.evaluate(() => ({
    steward: Reflect.get(globalThis, 'steward'),
    node: typeof Reflect.get(globalThis, 'require'),
  }))
  expect(globals).toMatchObject({ steward: { shell: 'electron' }, node: 'undefined' })
  expect(await callInPage(page, getLocalStatus, {})).toMatchObject({ shell: 'electron' })
})
