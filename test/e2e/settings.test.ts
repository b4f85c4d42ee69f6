import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createApiKey, listApiKeys, revokeApiKey } from '#shared/contract/accounts.ts'
import { askIntent, changePolicy, getPolicy, type IntentInput, listIntents } from '#shared/contract/intents.ts'
import { listSandboxes } from '#shared/contract/sandboxes.ts'
import { getWallet } from '#shared/contract/wallet.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { callTool, createMcpClient } from '../support/clients/mcpClients.ts'
import { createStewardClient } from '../support/clients/stewardClient.ts'
import { changeConfirmed, importPrivateKey } from '../support/clients/walletForms.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { pictures } from './pages/pictures.ts'
import { securePromptPage } from './pages/securePromptPage.ts'
import { settingsScreen } from './pages/settingsScreen.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

let app: StewardInBrowser

const passphrase = 'copper meadow thistle anchor lagoon'
const look = pictures()
const getOrigin = () => new URL(app.steward.url).origin

beforeAll(async () => {
  app = await ownStewardInBrowser()
  // Second account of the Hardhat and Anvil test mnemonic.
  const key = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
  await importPrivateKey(app.person, { key, passphrase })
})
afterAll(() => app?.close())

test('creates a key that is shown once and refused after revocation', async () => {
  const window = await app.window()
  const { page } = window
  const settings = settingsScreen(page)
  const key = await settings.newKey('nightly-build')
  expect(key).toMatch(/^sk_steward_/)
  const client = createStewardClient(getOrigin(), key)
  await client.call(listSandboxes, {})
  expect(await page.content()).not.toContain(key)

  const row = page.getByRole('row', { name: /nightly-build/ })
  await row.waitFor()
  await look(page, 'settings-keys')
  await row.getByRole('button', { name: 'Revoke nightly-build' }).click()
  await window.dialog('Revoke “nightly-build”?').getByRole('button', { name: 'Revoke key' }).click()
  await row.waitFor({ state: 'detached' })
  await expect(client.call(listSandboxes, {})).rejects.toThrow(/: 401 /)
})

test('the key dialog has text to copy, and keys created by scripts appear live', async () => {
  const window = await app.window()
  const { page } = window
  const settings = settingsScreen(page)
  const section = await settings.open('API keys')
  await app.client.call(createApiKey, { name: 'made-by-a-script' })
  await section.getByRole('rowheader', { name: 'made-by-a-script' }).waitFor()
  onTestFinished(async () => {
    const { api_keys: keys } = await app.client.call(listApiKeys, {})
    for (const { id, name } of keys) if (/script|copied/.test(name)) await app.client.call(revokeApiKey, { keyId: id })
  })
  await section.getByRole('button', { name: 'New key' }).click()
  const form = window.dialog('New API key')
  await form.getByRole('button', { name: 'Create key' }).click()
  await form.getByText('A name must not be empty.').waitFor()
  await form.getByLabel('Name').fill('copied')
  await page.keyboard.press('Enter')
  const dialog = window.dialog('Key created: copied')
  await dialog.getByRole('button', { name: 'Copy command' }).click()
  const readClipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
  const command = `curl -H "Authorization: Bearer $STEWARD_KEY" ${getOrigin()}/v1/sandboxes`
  await eventually(async () => expect(await readClipboard()).toBe(command))
  await dialog.getByRole('button', { name: 'Copy key' }).click()
  await eventually(async () => expect(await readClipboard()).toMatch(/^sk_steward_[\w-]{43}$/))
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
})

test('creates a limited tool client that asks before deleting, and revokes it', async () => {
  const window = await app.window()
  const { page } = window
  const section = await settingsScreen(page).open('Tool clients')
  await section.getByText('No tool clients yet.').waitFor()
  await section.getByRole('button', { name: 'Client for Claude Code…' }).click()
  const form = window.dialog('New tool client')
  await form.getByLabel('Daily budget').fill('five')
  await form.getByRole('button', { name: 'Create client' }).click()
  await form.getByText('Enter dollars and cents').waitFor()
  await form.getByLabel('Daily budget').fill('5')
  await look(page, 'settings-tools-new')
  await form.getByRole('button', { name: 'Create client' }).click()
  const dialog = window.dialog('Client created: claude-code')
  const key = await dialog.getByRole('region', { name: 'Key', exact: true }).locator('code').textContent()
  expect(key).toMatch(/^sk_tools_[\w-]{43}$/)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await section.getByText('Changes, asks before deleting').waitFor()
  await look(page, 'settings-tools')
  await look.inOtherSizes(page, 'settings-tools')
  expect(await page.content()).not.toContain(key)
  await section.getByText('Codex', { exact: true }).click()
  await section.getByText(`url = "${getOrigin()}/mcp"`).waitFor()

  const tools = await createMcpClient({ url: `${getOrigin()}/mcp`, key: key ?? '' })
  onTestFinished(() => tools.client.close())
  const { id } = (await tools.call('sandbox_create', { name: 'atlas' })).result
  const deleted = tools.call('sandbox_delete', { sandbox_id: id })
  const { intents } = await until('it waits', async () => {
    const listed = await app.person.call(listIntents, { state: 'waiting' })
    return listed.intents.length > 0 && listed
  })
  await page.goto(`${getOrigin()}/#/approvals/${intents[0]?.id}`)
  const request = page.getByRole('article', { name: 'Request' })
  await request
    .getByRole('heading', { name: `Delete the sandbox “atlas” (${id.slice(0, 8)}) with all its files` })
    .waitFor()
  await look(page, 'approval-tool')
  const approve = request.getByRole('button', { name: 'Approve once' })
  await eventually(async () => expect(await approve.isEnabled()).toBe(true))
  await approve.click()
  expect((await deleted).result).toMatchObject({ success: true, id })
  await request.getByText('Approved', { exact: true }).waitFor()

  // Same client over stdin and stdout, which joins the running Steward.
  const joined = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  onTestFinished(() => joined.close())
  const script = join(projectFolder, 'scripts/mcp.js')
  const args = [script, '--data', app.steward.dataFolder, '--profile', 'read-only']
  const env = { ...process.env, STEWARD_MCP_KEY: key ?? '' } as Record<string, string>
  await joined.connect(new StdioClientTransport({ command: process.execPath, args, env }))
  expect((await joined.listTools()).tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
  expect((await callTool(joined, 'sandbox_list', {})).result).toMatchObject({ count: 0 })

  const again = await settingsScreen(page).open('Tool clients')
  await again.getByRole('button', { name: 'Revoke claude-code' }).click()
  await window.dialog('Revoke “claude-code”?').getByRole('button', { name: 'Revoke client' }).click()
  await again.getByText('No tool clients yet.').waitFor()
  await expect(tools.call('sandbox_list')).rejects.toThrow()
})

test('every section has a URL and a command', async () => {
  const window = await app.window()
  const { page } = window
  await page.goto(`${getOrigin()}/#/settings/appearance`)
  const appearance = page.getByRole('article', { name: 'Appearance' })
  await appearance.getByText('Light', { exact: true }).click()
  await until('it is light', () => page.evaluate<boolean>("document.documentElement.dataset.theme === 'light'"))
  await appearance.getByText('System', { exact: true }).click()
  await look(page, 'settings-appearance')
  await window.command('Settings: Account')
  await page.getByRole('article', { name: 'Account' }).getByText('Owner', { exact: true }).waitFor()
  await look(page, 'settings-account')
  await page.goBack()
  await appearance.waitFor()
})

test('locks the wallet manually or automatically and unlocks it in the secure prompt', async () => {
  const window = await app.window()
  const { page } = window
  const section = await settingsScreen(page).open('Wallet lock')
  await section.getByText('Unlocked', { exact: true }).waitFor()
  await section.getByRole('button', { name: /Auto-lock/ }).click()
  await page.getByRole('menuitemradio', { name: 'After 1 hour' }).click()
  await until('it is kept', async () => (await app.person.call(getWallet, {})).auto_lock_minutes === 60)
  await look(page, 'settings-lock')
  await section.getByRole('button', { name: 'Lock now' }).click()
  await section.getByText('Locked', { exact: true }).waitFor()
  expect((await app.person.call(getWallet, {})).state).toBe('locked')
  await section.getByRole('button', { name: 'Unlock…' }).click()
  await securePromptPage(page).give(passphrase, 'Unlock')
  await section.getByText('Unlocked', { exact: true }).waitFor()
})

test('asks about unsaved changes on every way of leaving', async () => {
  const window = await app.window()
  const { page } = window
  const section = await settingsScreen(page).open('Policies')
  await section.getByRole('button', { name: 'Add rule' }).click()
  const asks = window.dialog('Leave without saving?')
  const ways = [
    () => page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Wallet' }).click(),
    () => page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Appearance' }).click(),
    () => page.keyboard.press('Alt+2'),
  ]
  for (const close of ways) {
    await close()
    await page.mouse.move(700, 500)
    const stay = asks.getByRole('button', { name: 'Stay' })
    await until('Stay to have the focus', () =>
      stay.evaluate((element) => element === element.ownerDocument.activeElement),
    )
    await page.keyboard.press('Enter')
    await asks.waitFor({ state: 'detached' })
    // The focus returns to the pressed control, and its tooltip covers nothing.
    expect(await page.getByRole('tooltip').count()).toBe(0)
    await section.getByRole('listitem', { name: 'Rule 1' }).waitFor()
  }
  const closing = page.waitForEvent('dialog')
  await page.evaluate('setTimeout(() => location.reload(), 0)')
  const question = await closing
  expect(question.type()).toBe('beforeunload')
  await question.dismiss()
  await section.getByRole('listitem', { name: 'Rule 1' }).waitFor()
  await page.keyboard.press('Alt+4')
  await asks.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { name: 'Wallet' }).first().waitFor()
  await settingsScreen(page).open('Policies')
  expect(await section.getByRole('listitem', { name: 'Rule 1' }).count()).toBe(0)
})

test('a saved and ordered policy decides later requests', async () => {
  const { stopped: _, ...before } = await app.person.call(getPolicy, {})
  onTestFinished(() => changeConfirmed(app.person, { passphrase, change: () => app.person.call(changePolicy, before) }))
  const program = createStewardClient(getOrigin(), app.steward.ownerKey)
  const signIn: IntentInput = { kind: 'siwe', domain: 'a.example', uri: 'https://a.example/', nonce: 'k3Gq8sLm2Zx9' }
  const window = await app.window()
  const { page } = window
  const section = await settingsScreen(page).open('Policies')
  const rule = (index: number) => section.getByRole('listitem', { name: `Rule ${index}` })
  const choose = async (index: number, field: string, option: string) => {
    await rule(index)
      .getByRole('button', { name: new RegExp(`^${field}`) })
      .click()
    await page.getByRole('menuitemradio', { name: option }).click()
  }
  const save = async () => {
    await section.getByRole('button', { name: 'Save…' }).click()
    await window.dialog('Save the policy?').getByRole('button', { name: 'Save policy' }).click()
    await section.getByText('No unsaved changes.').waitFor()
  }

  await section.getByRole('button', { name: 'Add rule' }).click()
  await choose(1, 'Effect', 'Deny')
  await rule(1).getByLabel('Host').fill('https://a.example')
  await rule(1).getByText('Enter a host such as').waitFor()
  expect(await section.getByRole('button', { name: 'Save…' }).isEnabled()).toBe(false)
  await rule(1).getByLabel('Host').fill('a.example')
  await save()
  expect(await program.call(askIntent, { intent: signIn })).toMatchObject({
    state: 'denied',
    decision: { by: 'policy' },
  })

  await section.getByRole('button', { name: 'Add rule' }).click()
  await choose(2, 'Effect', 'Allow')
  await choose(2, 'Action', 'Sign in with Ethereum')
  await rule(2).getByText('Anyone may sign in with Ethereum to any site without asking you.').waitFor()
  await rule(2).getByText('Name the hosts you trust').waitFor()
  await rule(2)
    .getByRole('button', { name: /^Move rule 2 of 2/ })
    .press('ArrowUp')
  await rule(1).getByText('Anyone may sign in with Ethereum to any site without asking you.').waitFor()
  await look(page, 'settings-policies')
  await section.getByRole('button', { name: 'Save…' }).click()
  const dialog = window.dialog('Save the policy?')
  await dialog.getByText('Anyone may sign in with Ethereum to any site without asking you.').waitFor()
  await look(page, 'settings-policies-save')
  await page.emulateMedia({ colorScheme: 'dark' })
  await dialog.getByRole('button', { name: 'Save policy' }).click()
  await securePromptPage(page).step('Change your policies?')
  await look(page, 'settings-policies-prompt', ['dark'])
  await securePromptPage(page).give(passphrase, 'Confirm')
  await section.getByText('No unsaved changes.').waitFor()
  expect(await program.call(askIntent, { intent: signIn })).toMatchObject({
    state: 'signed',
    decision: { by: 'policy' },
  })

  await rule(2)
    .getByRole('button', { name: /^Move rule 2/ })
    .dragTo(rule(1), { steps: 10 })
  await rule(1).getByText('Nobody may have anything signed for a.example.').waitFor()
  await section.getByRole('button', { name: 'Discard' }).click()
  await rule(2).getByText('Nobody may have anything signed for a.example.').waitFor()
  await section.getByRole('button', { name: 'Remove rule 1' }).click()
  await save()
  expect((await program.call(askIntent, { intent: signIn })).state).toBe('denied')
})
