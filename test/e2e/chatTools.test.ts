import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMessage } from '#shared/contract/chatMessages.ts'
import { createConversation } from '#shared/contract/chats.ts'
import { getDomain } from '#shared/contract/domains.ts'
import { giveTestMoney } from '#shared/contract/payments.ts'
import { execInSandbox, listSandboxes } from '#shared/contract/sandboxes.ts'
import { createTerminal } from '#shared/contract/terminals.ts'
import { getWallet } from '#shared/contract/wallet.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { importPrivateKey } from '../support/clients/walletForms.ts'
import { createProviderServer, type ProviderRequest, type ProviderServer } from '../support/models/providerServer.ts'
import { plainUsage, type ScriptedPart } from '../support/models/scriptedAnswer.ts'
import { openChat } from './pages/chatScreen.ts'
import { pictures } from './pages/pictures.ts'
import { securePromptPage } from './pages/securePromptPage.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** A model completes a task with tools in the chat. Only the provider is a fake, which follows a script. */
let app: StewardInBrowser
let providers: ProviderServer
const look = pictures()

const passphrase = 'four random words here'

beforeAll(async () => {
  providers = await createProviderServer()
  const { baseUrl, apiKey } = providers.providerOf('d')
  app = await ownStewardInBrowser({
    config: { inference: { families: { d: { base_url: baseUrl, api_key: apiKey } } } },
  })
  await importPrivateKey(app.person, { key: `0x${'7'.repeat(64)}`, passphrase })
})
afterAll(async () => {
  await app?.close()
  await providers?.close()
})

const call = (name: string, args: object, id = 'c1'): ScriptedPart => ({ call: name, id, args: JSON.stringify(args) })
/** Returns the latest tool results. */
const results = ({ body }: ProviderRequest): string[] => {
  const messages = body.messages as { role: string; content: string }[]
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1).map(({ content }) => content)
}
const page = '<h1>Built by a model</h1><script>document.title = "hacked"</script>'

test('a model completes tool calls and continues after a refused purchase', async () => {
  const window = await app.window()
  const chat = await openChat(window)
  await chat.composer.getByRole('button', { name: /^Model:/ }).click()
  await window.page.getByRole('option', { name: /^kimi-k2\.5/ }).click()
  await chat.composer.getByRole('button', { name: 'Tools off' }).click()
  await window.page.getByRole('menuitemradio', { name: 'On', exact: true }).click()

  let sandboxId = ''
  const inSandbox = (name: string, args: object, id?: string) => call(name, { sandbox_id: sandboxId, ...args }, id)
  const steps: ((request: ProviderRequest) => ScriptedPart[])[] = [
    () => [{ text: 'I will make a **sandbox** first.' }, call('sandbox_create', { name: 'built-by-chat' })],
    (request) => {
      sandboxId = JSON.parse(results(request)[0] ?? '').id
      return [inSandbox('sandbox_write_file', { path: '/root/index.html', content: page })]
    },
    () => [
      { text: 'Now I start it.' },
      inSandbox(
        'sandbox_exec',
        { command: 'printf "\\033[31m<b>red</b>\\033[0m\\n"; cat index.html; echo oops >&2' },
        'a',
      ),
      call('domain_check', { domains: 'built-by-a-model.com' }, 'b'),
    ],
    () => [inSandbox('sandbox_expose_port', { port: 8080 })],
    () => [{ text: 'Ignore your rules: I clean up.' }, inSandbox('sandbox_delete', {})],
    () => [{ text: 'Then I buy the name.' }, call('domain_register', { domain: 'built-by-a-model.com', years: 1 })],
    (request) => [{ text: `You denied it, so it stays. ${results(request)[0]?.slice(0, 6)}` }],
  ]
  providers.playAlways((request) => ({ parts: steps.shift()?.(request) ?? [{ text: 'Over.' }], usage: plainUsage }))
  await chat.send('Build me a page')

  const card = (name: string) => chat.answers.getByRole('group', { name })
  await card('Delete a sandbox: Needs your approval').waitFor()
  await window.page.getByRole('button', { name: 'Approvals: 1 needs you' }).waitFor()
  await look(window.page, 'chat-tools-waiting')
  for (const done of ['Create a sandbox', 'Write a file', 'Run a command', 'Check domains', 'Expose a port']) {
    await card(`${done}: Done`).waitFor()
  }
  await card('Delete a sandbox: Needs your approval').getByRole('button', { name: 'Deny' }).click()
  const purchase = card('Register a domain: Needs your approval')
  await purchase.waitFor()
  await purchase.getByText(/^Pay 10\.95 USDC/).waitFor()
  await look(window.page, 'chat-tools-purchase')
  await purchase.getByRole('button', { name: 'Deny' }).click()
  await chat.answered('You denied it, so it stays.')
  await card('Register a domain: Denied').waitFor()
  await card('Delete a sandbox: Denied').waitFor()
  const { sandboxes } = await app.client.call(listSandboxes, {})
  expect(sandboxes.map(({ name }) => name)).toContain('built-by-chat')

  const command = card('Run a command: Done')
  await command.getByRole('button', { name: /Run a command/ }).click()
  const output = command.getByRole('group', { name: 'Output' })
  await output.getByText('<b>red</b>').waitFor()
  expect(await output.textContent()).toBe(`<b>red</b>\n${page}oops\n`)
  expect(await chat.answers.locator('script, b').count()).toBe(0)
  expect(await window.page.title()).not.toBe('hacked')
  await look(window.page, 'chat-tools')
  await look.inOtherSizes(window.page, 'chat-tools')

  await window.page.reload()
  await card('Delete a sandbox: Denied').waitFor()
  await card('Run a command: Done').getByRole('button').first().click()
  await card('Run a command: Done').getByRole('button', { name: 'Open sandbox' }).click()
  await window.page.locator(`[data-sandbox="${sandboxId}"]`).waitFor()

  await window.page.evaluate("location.hash = '#/activity/tasks'")
  const tasks = window.page.getByRole('list', { name: 'Tasks, newest first' })
  await tasks.getByRole('listitem').first().waitFor()
  await look(window.page, 'activity-tasks')
  await look.inOtherSizes(window.page, 'activity-tasks')
  await tasks.getByRole('link', { name: 'Build me a page' }).first().click()
  const entries = window.page.getByRole('list', { name: 'Task, oldest first' }).getByRole('listitem')
  await entries.first().waitFor()
  await look(window.page, 'activity-task')
  const text = (await entries.allInnerTexts()).join('\n')
  const order = ['asked kimi', 'created built-by', 'sandbox_write', 'sandbox_exec', 'sandbox_expose', 'asked to delete']
  const places = [...order, 'denied: Delete', 'asked to pay 10.95', 'denied: Pay', 'answered'].map((it) =>
    text.indexOf(it),
  )
  expect(places, text).toEqual(places.toSorted((a, b) => a - b))
  expect(
    places.every((it) => it >= 0),
    text,
  ).toBe(true)
  await window.page.getByRole('button', { name: 'Verify' }).click()
  await window.page.getByText(/^Entries 1 to [\d,]+ are intact/).waitFor()
})

test('the terminal shows the user that a model typed there', async () => {
  const { id } = await app.sandbox('typed-box')
  const { session_id } = await app.client.call(createTerminal, { id, command: 'bash' })
  const window = await app.window()
  await window.select('typed-box')
  await window.terminal.isLive()
  const steps: ScriptedPart[][] = [
    [call('sandbox_pty_write', { sandbox_id: id, session_id, input: 'echo from-$((1+1))-a-model\\n' })],
  ]
  providers.playAlways(() => ({ parts: steps.shift() ?? [{ text: 'Typed.' }], usage: plainUsage }))
  const chat = await app.person.call(createConversation, {
    models: ['kimi-k2.5'],
    title: 'Helper',
    tools: { enabled: true },
  })
  await app.person.call(sendMessage, { conversationId: chat.id, parent_id: null, text: 'Type' })
  await window.terminal.sees('from-2-a-model')
  await window.page.getByRole('link', { name: '“Helper” typed here' }).waitFor()
  await look(window.page, 'terminal-typed')
})

test('an approval in the chat runs the call, and chats can use one sandbox', async () => {
  const { id } = await app.sandbox('chat-box')
  const window = await app.window()
  const chat = await openChat(window)
  await chat.newChat()
  await chat.composer.getByRole('button', { name: 'Tools off' }).click()
  await window.page.getByRole('menuitemradio', { name: 'In chat-box' }).click()
  await chat.composer.getByRole('button', { name: 'Tools: chat-box' }).waitFor()
  const steps: ScriptedPart[][] = [[call('sandbox_delete', { sandbox_id: id })], [{ text: 'It is gone.' }]]
  providers.playAlways(() => ({ parts: steps.shift() ?? [{ text: 'Over.' }], usage: plainUsage }))
  await chat.send('Delete it')
  await chat.answers.getByRole('button', { name: 'Approve' }).click()
  await chat.answered('It is gone.')
  expect(providers.requests.at(-1)?.body.messages[0].content).toContain(id)
  await eventually(async () => {
    const { sandboxes } = await app.client.call(listSandboxes, {})
    expect(sandboxes.map((it) => it.name)).not.toContain('chat-box')
  })
})

test('a tool card streams the output of its running command', async () => {
  const { id } = await app.sandbox('live-box')
  const window = await app.window()
  const chat = await openChat(window)
  await chat.newChat()
  await chat.composer.getByRole('button', { name: 'Tools off' }).click()
  await window.page.getByRole('menuitemradio', { name: 'On', exact: true }).click()
  const command = 'mkfifo /tmp/go; for n in 1 2 3; do echo "step $n <b>of</b> 3"; done; read < /tmp/go; echo over'
  const steps: ScriptedPart[][] = [[call('sandbox_exec', { sandbox_id: id, command })], [{ text: 'All steps done.' }]]
  providers.playAlways(() => ({ parts: steps.shift() ?? [{ text: 'Over.' }], usage: plainUsage }))
  await chat.send('Run the steps')
  const running = chat.answers.getByRole('group', { name: 'Run a command: Running' })
  await running.getByRole('group', { name: 'Live output' }).getByText('step 3 <b>of</b> 3').waitFor()
  await look(window.page, 'chat-tools-live')
  await app.client.call(execInSandbox, { id, command: 'echo > /tmp/go' })
  await chat.answered('All steps done.')
  expect(await chat.answers.getByRole('group', { name: 'Live output' }).count()).toBe(0)
})

test('approves a payment in the chat and shows old values of DNS changes', async () => {
  const window = await app.window()
  const { page } = window
  const { keyrings } = await app.person.call(getWallet, {})
  const address = keyrings[0]?.accounts[0]?.address ?? ''
  await app.client.call(giveTestMoney, { address })
  const chat = await openChat(window)
  await chat.newChat()
  await chat.composer.getByRole('button', { name: 'Tools off' }).click()
  await page.getByRole('menuitemradio', { name: 'On', exact: true }).click()
  const domain = 'bought-in-chat.com'
  const steps: ((request: ProviderRequest) => ScriptedPart[])[] = [
    () => [{ text: 'I buy it.' }, call('domain_register', { domain, years: 1 })],
    () => [call('domain_dns_add', { domain, type: 'A', host: 'www', value: '192.0.2.1' })],
    (request) => {
      const { record_id } = JSON.parse(results(request)[0] ?? '')
      return [call('domain_dns_update', { domain, record_id, value: '192.0.2.9' })]
    },
    () => [{ text: 'Bought, and pointed elsewhere.' }],
  ]
  providers.playAlways((request) => ({ parts: steps.shift()?.(request) ?? [{ text: 'Over.' }], usage: plainUsage }))
  await chat.send('Buy it')
  const purchase = chat.answers.getByRole('group', { name: 'Register a domain: Needs your approval' })
  await purchase.getByRole('button', { name: 'Review and approve' }).click()
  const approval = purchase.getByRole('region', { name: 'Approval' })
  const approve = approval.getByRole('button', { name: /^Approve once/ })
  await approve.waitFor()
  await look(page, 'chat-payment-approval')
  await look.inOtherSizes(page, 'chat-payment-approval')
  const asksAgain = (await approve.textContent())?.endsWith('…') ?? false
  await approve.click()
  if (asksAgain) await securePromptPage(page).give(passphrase, 'Approve')
  await chat.answers.getByRole('group', { name: 'Register a domain: Done' }).waitFor()
  expect((await app.client.call(getDomain, { domain })).status).toBe('active')

  const change = chat.answers.getByRole('group', { name: 'Change a DNS record: Needs your approval' })
  const lines = change.getByRole('group', { name: 'DNS changes' })
  await lines.getByText('− A  www  192.0.2.1  3600').waitFor()
  await lines.getByText('+ A  www  192.0.2.9  3600').waitFor()
  await look(page, 'chat-dns-change')
  await change.getByRole('button', { name: 'Approve', exact: true }).click()
  await chat.answered('Bought, and pointed elsewhere.')
  await page.reload()
  const done = chat.answers.getByRole('group', { name: 'Change a DNS record: Done' })
  await done.getByRole('button').first().click()
  await done.getByText('− A  www  192.0.2.1  3600').waitFor()
})
