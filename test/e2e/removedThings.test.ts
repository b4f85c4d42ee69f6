import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getMe } from '#shared/contract/auth.ts'
import { createConversation } from '#shared/contract/chats.ts'
import { addDnsRecord, listDnsRecords } from '#shared/contract/dnsRecords.ts'
import { getDomain } from '#shared/contract/domains.ts'
import { exposePort } from '#shared/contract/ports.ts'
import { addSandboxDomain } from '#shared/contract/sandboxDomains.ts'
import { createSandbox, deleteSandbox, getSandbox, listSandboxes, stopSandbox } from '#shared/contract/sandboxes.ts'
import { addToolServer, changeToolServer } from '#shared/contract/toolServers.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { orphanSandboxes } from '../support/fixtures/orphanSandboxes.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import type { Steward } from '../support/processes/steward.ts'
import { pictures } from './pages/pictures.ts'
import { settingsScreen } from './pages/settingsScreen.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Notices in the window about removed resources, and about sandboxes missing in the database. */
let app: StewardInBrowser<Steward>
const look = pictures()

beforeAll(async () => {
  app = await ownStewardInBrowser()
})
afterAll(() => app?.close())

test('offers to keep or delete sandboxes missing from the database', async () => {
  const created = await Promise.all(
    ['keep-me', 'delete-me'].map(async (name) => {
      const { id } = await app.client.call(createSandbox, { name })
      await app.client.call(stopSandbox, { id })
      return id
    }),
  )
  const [firstId] = created
  if (firstId === undefined) expect.unreachable('Two sandboxes were created.')
  orphanSandboxes(app.steward.dataFolder, created)
  const { page } = await app.window()
  const region = page.getByRole('region', { name: 'Found sandboxes' })
  await region.getByText('Found 2 sandboxes that are missing from the database.').waitFor()
  await look(page, 'found-sandboxes')

  await region.getByRole('button', { name: 'Keep keep-me' }).click()
  await page.locator(`[data-sandbox='${firstId}']`).getByText('keep-me').waitFor()
  await region.getByText('Found 1 sandbox that is missing from the database.').waitFor()
  expect((await app.client.call(getSandbox, { id: firstId })).status).toBe('stopped')

  await region.getByRole('button', { name: 'Delete delete-me' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete delete-me?' })
  await look(page, 'found-sandboxes-delete')
  await dialog.getByRole('button', { name: 'Delete sandbox' }).click()
  await region.waitFor({ state: 'detached' })
  const { sandboxes } = await app.client.call(listSandboxes, {})
  expect(sandboxes.map(({ name }) => name)).toEqual(['keep-me'])
  await app.client.call(deleteSandbox, { id: firstId })
})

test('reports the deleted sandbox in its chat, tool server and domain', async () => {
  const sandbox = await app.client.call(createSandbox, { name: 'web-shop' })
  const { id: accountId } = await app.client.call(getMe, {})
  const domain = 'web-shop.com'
  seedDomain(app.steward.dataFolder, { accountId, name: domain })
  await app.client.call(exposePort, { id: sandbox.id, port: 8000 })
  await app.client.call(addSandboxDomain, { id: sandbox.id, domain, port: 8000 })
  await app.client.call(addDnsRecord, { domain, type: 'A', host: '@', value: '127.0.0.1', ttl: 3600 })
  const chat = await app.person.call(createConversation, {
    title: 'Shop',
    models: ['gpt-5.2'],
    tools: { enabled: true, sandbox_id: sandbox.id },
  })
  const transport = { kind: 'sandbox', sandbox_id: sandbox.id, command: 'cat' } as const
  const server = await app.person.call(addToolServer, { name: 'files', place: transport })
  await app.person.call(changeToolServer, { serverId: server.id, enabled: true })
  await app.client.call(deleteSandbox, { id: sandbox.id })

  const { page } = await app.window()
  const origin = new URL(app.steward.url).origin
  await page.goto(`${origin}/#/chat/${chat.id}`)
  const notice = page.getByText('The sandbox “web-shop” was deleted. This chat no longer works in a sandbox.')
  await notice.waitFor()
  await look(page, 'chat-sandbox-deleted')
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await notice.waitFor({ state: 'detached' })

  await page.goto(`${origin}/#/domains/name/${domain}`)
  const orphaned = page.getByRole('region', { name: 'Records of a deleted sandbox' })
  await orphaned.getByText('A DNS record points to nothing.').waitFor()
  await orphaned.getByText('The sandbox web-shop was deleted: A @ → 127.0.0.1').waitFor()
  await look(page, 'domain-orphaned')
  await orphaned.getByRole('button', { name: 'Remove record' }).click()
  await orphaned.waitFor({ state: 'detached' })
  await eventually(async () => expect((await app.client.call(listDnsRecords, { domain })).records).toEqual([]))

  const section = await settingsScreen(page).open('Tool servers')
  await section.getByText(/^Its sandbox “web-shop” was deleted\./).waitFor()
})

test('reports that a domain left the account with auto-renew still on', async () => {
  const { id: accountId } = await app.client.call(getMe, {})
  const domain = 'harbour-left.com'
  const inDatabase = (file: string, sql: string, ...values: unknown[]) => {
    const database = openDatabase(join(app.steward.dataFolder, file))
    database.prepare(sql).run(...values)
    database.close()
  }
  seedDomain(app.steward.dataFolder, { accountId, name: domain })
  inDatabase(
    'agent.sqlite',
    'INSERT INTO domain_renewals VALUES (?, ?, 1, 30, 1, 20000000)',
    `embedded ${accountId}`,
    domain,
  )
  inDatabase('service.sqlite', 'DELETE FROM registry_domains WHERE name = ?', domain)
  // so that it is fetched again
  inDatabase('service.sqlite', 'UPDATE domains SET read_at_ms = 0 WHERE name = ?', domain)
  await eventually(async () => expect((await app.client.call(getDomain, { domain })).left_at).not.toBeNull())

  const { page } = await app.window()
  await page.goto(`${new URL(app.steward.url).origin}/#/domains`)
  const notice = page.getByRole('region', { name: `Auto-renew for ${domain}` })
  await notice.getByText(`Auto-renew is on for ${domain}, but the domain is not in your account.`).waitFor()
  await page.getByRole('list', { name: 'Your domains' }).getByText('Not in account', { exact: true }).waitFor()
  await look(page, 'domains-left')
  await notice.getByRole('button', { name: 'Turn off' }).click()
  await notice.waitFor({ state: 'detached' })
})
