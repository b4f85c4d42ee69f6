import type { ChildProcess } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSandbox, listSandboxes } from '#shared/contract/sandboxes.ts'
import { until } from '../support/assertions/eventually.ts'
import { createStewardClient } from '../support/clients/stewardClient.ts'
import { startIncompatibleHost } from '../support/processes/incompatibleHost.ts'
import { type Steward, startSteward } from '../support/processes/steward.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Notices in the window about a host, or data, of another version of Steward. */
let app: StewardInBrowser<Steward>
let incompatibleHost: ChildProcess
const look = pictures()

beforeAll(async () => {
  const earlier = await startSteward()
  const { id } = await createStewardClient(earlier.serviceUrl, earlier.ownerKey).call(createSandbox, {
    name: 'survivor',
  })
  await earlier.close()
  incompatibleHost = await startIncompatibleHost(earlier.dataFolder, id)
  app = await ownStewardInBrowser({ dataFolder: earlier.dataFolder })
})
afterAll(async () => {
  await app?.close()
  incompatibleHost?.kill('SIGKILL')
})

test('offers to stop sandboxes of another version and continues with them', async () => {
  const { page } = await app.window()
  const notice = page.getByRole('region', { name: 'Other version' })
  await notice.getByText('1 sandbox was started by Steward', { exact: false }).waitFor()
  await look(page, 'other-host')
  await notice.getByRole('button', { name: 'Stop all and continue…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Stop the sandbox and continue?' })
  await look(page, 'other-host-dialog')
  expect(incompatibleHost.exitCode).toBeNull()
  await dialog.getByRole('button', { name: 'Stop all and continue' }).click()
  await page.getByText('Sandboxes stopped. You can start them again.').waitFor()
  await notice.waitFor({ state: 'detached' })
  await until('the other host to end', () => incompatibleHost.exitCode !== null)
  const { sandboxes } = await app.client.call(listSandboxes, {})
  expect(sandboxes.map(({ name, status }) => [name, status])).toEqual([['survivor', 'stopped']])
})

test('reports unreadable entries of another version and shows the others', async () => {
  const { page } = await app.window()
  const isList = (url: URL) => url.pathname === '/v1/sandboxes'
  await page.route(isList, async (route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as { sandboxes: unknown[] }
    await route.fulfill({ response, json: { ...answer, sandboxes: [{ id: 17, name: {} }, ...answer.sandboxes] } })
  })
  await page.reload()
  await page.getByText('One entry can’t be shown').waitFor()
  await page.getByText('Another version of Steward wrote it. Update Steward, then reload.').waitFor()
  await page.getByText('survivor').first().waitFor()
  await look(page, 'unreadable-entry')
})
