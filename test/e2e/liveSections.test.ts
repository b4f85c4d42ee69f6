import { afterAll, beforeAll, expect, test } from 'vitest'
import { createConversation, deleteConversation } from '#shared/contract/chats.ts'
import { createSandbox, deleteSandbox, stopSandbox } from '#shared/contract/sandboxes.ts'
import { until } from '../support/eventually.ts'
import { type StewardInBrowser, stewardInBrowser } from './pages/stewardInBrowser.ts'

/** Changes made while another section is open show without a reload. */
let app: StewardInBrowser

beforeAll(async () => {
  app = await stewardInBrowser()
})
afterAll(() => app?.close())

const sections = ['chat', 'domains', 'wallet', 'credits', 'payments', 'identity', 'approvals', 'activity', 'settings']

test('sandboxes made, stopped and deleted in every section are so in Terminals', async () => {
  const { id } = await app.sandbox('live-first')
  const window = await app.window()
  const { page } = window
  const goTo = (section: string) => page.evaluate((path) => location.assign(path), `#/${section}`)
  await window.sandbox('live-first').waitFor()
  for (const [index, section] of sections.entries()) {
    await goTo(section)
    await page.locator('h1, h2').first().waitFor()
    const created = await app.client.call(createSandbox, { name: `live-${section}` })
    await goTo('terminals')
    await window.sandbox(`live-${section}`).waitFor()
    await goTo(section)
    if (index === 0) await app.client.call(stopSandbox, { id })
    await app.client.call(deleteSandbox, { id: created.id })
    await goTo('terminals')
    await until('the deleted sandbox to be gone', async () => (await window.sandbox(`live-${section}`).count()) === 0)
    expect(await window.sandbox('live-first').count()).toBe(1)
  }
  await window.sandbox('live-first').filter({ hasText: 'Stopped' }).waitFor()
})

test('a chat begun elsewhere is in the list of chats, and one deleted elsewhere is not', async () => {
  const window = await app.window()
  const { page } = window
  const goTo = (section: string) => page.evaluate((path) => location.assign(path), `#/${section}`)
  const begin = (title: string) => app.person.call(createConversation, { models: ['kimi-k2.5'], title })
  const first = await begin('Begun before')
  await goTo('chat')
  const findRow = (title: string) =>
    page.getByRole('link', { name: title }).or(page.getByRole('button', { name: title }))
  await findRow('Begun before').first().waitFor()
  await goTo('activity')
  const second = await begin('Begun elsewhere')
  await app.person.call(deleteConversation, { conversationId: first.id })
  await goTo('chat')
  await findRow('Begun elsewhere').first().waitFor()
  await until('the deleted chat to be gone', async () => (await findRow('Begun before').count()) === 0)
  await app.person.call(deleteConversation, { conversationId: second.id })
})
