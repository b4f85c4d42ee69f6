import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { until } from '../support/eventually.ts'
import { type ProviderServer, providerServer } from '../support/models/providerServer.ts'
import { sse } from '../support/models/scriptedAnswer.ts'
import { type ChatScreen, openChat } from './pages/chatScreen.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Chats in the window, through agent and service; the providers alone are fakes. */
let app: StewardInBrowser
let providers: ProviderServer
const look = pictures()

beforeAll(async () => {
  providers = await providerServer()
  const family = (place: string) => {
    const { baseUrl, apiKey } = providers.providerOf(place)
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
/** An answer that begins, and goes on only when it is stopped. */
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

test('a message is answered, with its cost, and the chat is listed by its beginning', async () => {
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
