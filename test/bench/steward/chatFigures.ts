import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { importConversations } from '#shared/contract/chatLibrary.ts'
import { windowKeyHeader } from '#shared/contract/localApi.ts'
import { appWindow } from '../../e2e/pages/appWindow.ts'
import { openChat } from '../../e2e/pages/chatScreen.ts'
import { openBrowser, openWindow, wholeChromium } from '../../support/clients/browser.ts'
import { sse } from '../../support/models/scriptedAnswer.ts'
import { startSteward } from '../../support/processes/steward.ts'
import type { Samples } from '../figures.ts'

const messages = 10_000
const lines = 640
/** Pace of a fast model: 200 chunks per second. */
const pieceMs = 5
const lookMs = 100

export type ChatFigures = {
  /** Time from the click on a chat of 10,000 messages until its end is visible. */
  opens: Samples
  /** Main-thread work for one keystroke in that chat, until the frame that shows it, in milliseconds. */
  types: Samples
  /** Main-thread work for a block of 640 lines, in milliseconds. */
  highlighted: Samples
  plain: Samples
  /** Longest task, in milliseconds; 0 if none exceeded 50 ms. */
  maxTaskMs: number
}

export async function chatFigures(tries: (count: number) => number): Promise<ChatFigures> {
  const provider = await createPacedProvider()
  const family = { base_url: provider.url, api_key: 'sk-bench' }
  const steward = await startSteward({ config: { inference: { families: { d: family } } } })
  const browser = await openBrowser(wholeChromium)
  try {
    const { page } = await openWindow(browser)
    const window = appWindow(page)
    await window.open(steward.url)
    await importLongChat(page)
    const opens: number[] = []
    for (let index = 0; index < Math.max(3, tries(20)); index++) opens.push(await timeToOpen(page))
    const types = await workToType(page, tries(200))
    const streamed = { ts: [] as number[], text: [] as number[] }
    let maxTaskMs = 0
    for (let index = 0; index < Math.max(2, tries(10)); index++) {
      for (const language of ['ts', 'text'] as const) {
        provider.writeIn(language)
        await page.reload()
        const { workMs, maxMs } = await workToStream(page)
        streamed[language].push(workMs)
        if (language === 'ts') maxTaskMs = Math.max(maxTaskMs, maxMs)
      }
    }
    return { opens, types, highlighted: streamed.ts, plain: streamed.text, maxTaskMs }
  } finally {
    await browser.close()
    await steward.close()
    await provider.close()
  }
}

export async function importLongChat(page: Page): Promise<void> {
  const texts = [
    'A paragraph with **bold** words, `code` and [a link](https://example.com).\n\n- one\n- two\n\n```ts\nconst a = 1\n```',
    'A short answer.',
    '| a | b |\n|---|---|\n| 1 | 2 |\n\nAnd a formula: $x^2$.',
  ]
  const mapping: Record<string, unknown> = { m0: { id: 'm0', parent: null, children: ['m1'], message: null } }
  for (let index = 1; index <= messages; index++) {
    const text = index === messages ? 'The last message.' : `${index}: ${texts[index % texts.length]}`
    mapping[`m${index}`] = {
      id: `m${index}`,
      parent: `m${index - 1}`,
      children: index === messages ? [] : [`m${index + 1}`],
      message: {
        id: `m${index}`,
        author: { role: index % 2 === 1 ? 'user' : 'assistant' },
        create_time: 1_700_000_000 + index,
        content: { content_type: 'text', parts: [text] },
        metadata: index % 2 === 1 ? {} : { model_slug: 'gpt-4o' },
        recipient: 'all',
      },
    }
  }
  const chat = { id: 'long', title: 'Long', create_time: 1, update_time: 2, current_node: `m${messages}`, mapping }
  const status = await page.evaluate(
    async ({ path, header, body }) => {
      const key = localStorage.getItem('steward.window-key') ?? ''
      const headers = { [header]: key, 'content-type': 'application/json' }
      return (await fetch(path, { method: 'POST', headers, body })).status
    },
    { path: importConversations.path, header: windowKeyHeader, body: JSON.stringify([chat]) },
  )
  if (status !== 201) throw new Error(`The import of the long chat was answered with ${status}.`)
}

/** Polls in the page on every frame, because a locator polls too rarely. */
async function timeToOpen(page: Page): Promise<number> {
  await page.goto(`${new URL(page.url()).origin}/#/chat/new`)
  await page.reload()
  const row = page.getByRole('navigation', { name: 'Chats' }).getByRole('link', { name: /^Long/ })
  await row.waitFor()
  return row.evaluate(
    (link: HTMLElement) =>
      new Promise<number>((resolve) => {
        const start = performance.now()
        link.click()
        const look = () => {
          const log = document.querySelector('[data-messages]')
          const isVisible =
            log?.textContent?.includes('The last message.') && log.scrollTop + log.clientHeight >= log.scrollHeight - 2
          if (isVisible) resolve(performance.now() - start)
          else requestAnimationFrame(look)
        }
        requestAnimationFrame(look)
      }),
  )
}

/** Measures the work per keystroke with the chat in view. */
async function workToType(page: Page, keys: number): Promise<number[]> {
  const { work, end } = await measureWork(page)
  await page.getByRole('form', { name: 'New message' }).locator('textarea').focus()
  const waitForPaint = () => new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  const durations: number[] = []
  for (let index = 0; index < keys; index++) {
    const before = await work()
    await page.keyboard.press(index % 6 === 5 ? 'Space' : 'e')
    await page.evaluate(waitForPaint)
    durations.push((await work()) - before)
  }
  await end()
  return durations
}

/**
 * Measures processor time, which excludes other load on the computer.
 * @returns `work`, which returns the milliseconds so far
 */
async function measureWork(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  return {
    async work(): Promise<number> {
      const { metrics } = await session.send('Performance.getMetrics')
      return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000
    },
    end: () => session.detach(),
  }
}

async function workToStream(page: Page): Promise<{ workMs: number; maxMs: number }> {
  const chat = await openChat(appWindow(page))
  await chat.newChat()
  await page.evaluate(() => {
    const page = globalThis as unknown as { maxTaskMs: number }
    page.maxTaskMs = 0
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) page.maxTaskMs = Math.max(page.maxTaskMs, duration)
    }).observe({ type: 'longtask' })
  })
  const { work, end } = await measureWork(page)
  await chat.write('Write a long program.')
  await chat.composer.getByRole('button', { name: 'Send' }).click()
  await chat.answers.first().waitFor()
  const before = await work()
  const answer = await chat.answers.first().elementHandle()
  // Polls rarely and without a query, because each poll is main-thread work, and polling on every frame forces frames.
  await page.waitForFunction(
    (article) => article?.getAttribute('aria-busy') === 'false' && article.querySelector('.code-line') !== null,
    answer,
    { polling: lookMs },
  )
  const workMs = (await work()) - before
  await end()
  return { workMs, maxMs: await page.evaluate(() => (globalThis as unknown as { maxTaskMs: number }).maxTaskMs) }
}

/** Creates a provider that streams a code block at the pace of a model. */
export async function createPacedProvider() {
  let language = 'ts'
  const code = Array.from(
    { length: lines },
    (_, index) =>
      `  const value${index} = await fetch(\`/api/\${id}/${index}\`, { method: 'POST', body: JSON.stringify({ id: ${index} }) })\n`,
  ).join('')
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunk = (delta: object, finish: string | null = null) =>
      sse({
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta, finish_reason: finish }],
      })
    const write = async () => {
      response.write(chunk({ role: 'assistant', content: `\`\`\`${language}\n` }))
      for (let offset = 0; offset < code.length; offset += 50) {
        response.write(chunk({ content: code.slice(offset, offset + 50) }))
        await after(pieceMs)
      }
      response.write(chunk({ content: '```\n' }))
      response.write(chunk({}, 'stop'))
      response.write(
        sse({
          id: 'c',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'm',
          choices: [],
          usage: { prompt_tokens: 10, completion_tokens: 20_000, total_tokens: 20_010 },
        }),
      )
      response.end(sse('[DONE]'))
    }
    void write().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    writeIn(next: string): void {
      language = next
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
