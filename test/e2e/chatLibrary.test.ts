import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { changeChatBudget } from '#shared/contract/chatMoney.ts'
import { chatLimits } from '#shared/contract/chats.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { claudeConversation, libreChatConversation, openWebUiConversation } from '../support/fixtures/chatExports.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import type { AppWindow } from './pages/appWindow.ts'
import { type ChatScreen, openChat } from './pages/chatScreen.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** Chat features other than messages: folders, daily limits, files and imports. */
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

/** Unique per try, because a retry sees the data of the first try. */
const uniqueName = (name: string) => `${name} ${randomBytes(3).toString('hex')}`
const usage = { input: 1_000, cacheRead: 400, cacheWrite5m: 0, cacheWrite1h: 0, output: 50, reasoning: 0 }
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

async function newChat(window: AppWindow): Promise<ChatScreen> {
  const chat = await openChat(window)
  await chat.newChat()
  await chat.composer.getByRole('button', { name: /^Model:/ }).click()
  await window.page.getByRole('option', { name: /^kimi-k2\.5/ }).click()
  return chat
}

async function ask(chat: ChatScreen, text: string, answer: string): Promise<void> {
  providers.play({ parts: [{ text: answer }], usage })
  await chat.send(text)
  await chat.answered(answer)
}

test('keeps a chat when its folder is renamed and deleted', async () => {
  const window = await app.window()
  const { page } = window
  const [herons, tides, folder, renamed] = [
    uniqueName('Herons'),
    uniqueName('Tides'),
    uniqueName('Nature'),
    uniqueName('Birds'),
  ]
  let chat = await newChat(window)
  await ask(chat, tides, 'Twice a day.')
  chat = await newChat(window)
  await ask(chat, herons, 'They wade.')

  await chat.listed(herons).click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Move to folder…' }).click()
  const move = window.dialog('Move to a folder')
  await move.getByLabel('Folder').click()
  await page.getByRole('menuitemradio', { name: 'New folder…' }).click()
  await move.getByLabel('Name').fill(folder)
  await look(page, 'chat-move', ['dark'])
  await move.getByRole('button', { name: 'Move', exact: true }).click()
  await move.waitFor({ state: 'detached' })

  const findRow = (name: string) => chat.root.getByRole('region', { name: 'Chats' }).getByRole('button', { name })
  await findRow('All chats').click()
  await page.getByRole('menuitemradio', { name: `${folder} (1)` }).waitFor()
  await look(page, 'chat-folders')
  await page.getByRole('menuitemradio', { name: `${folder} (1)` }).click()
  await chat.listed(tides).waitFor({ state: 'detached' })
  await chat.listed(herons).waitFor()

  await findRow(folder).click()
  await page.getByRole('menuitem', { name: 'Rename folder…' }).click()
  const rename = window.dialog('Rename folder')
  await rename.getByRole('textbox').fill(' ')
  await page.keyboard.press('Enter')
  await rename.getByText('The name must not be empty.').waitFor()
  await rename.getByRole('textbox').fill(renamed)
  await page.keyboard.press('Enter')
  await rename.waitFor({ state: 'detached' })
  await chat.listed(herons).waitFor()

  await findRow(renamed).click()
  await page.getByRole('menuitem', { name: 'Delete folder…' }).click()
  const sure = window.dialog(`Delete folder “${renamed}”?`)
  await sure.getByText('Its chats are kept, outside any folder.').waitFor()
  await look(page, 'chat-folder-delete', ['light'])
  await sure.getByRole('button', { name: 'Delete folder' }).click()
  await findRow('All chats').click()
  await page.getByRole('menuitemradio', { name: 'All chats' }).waitFor()
  expect(await page.getByRole('menuitemradio', { name: renamed }).count()).toBe(0)
  await page.keyboard.press('Escape')
  await chat.listed(tides).waitFor()
  await chat.listed(herons).click()
  await chat.answered('They wade.')
})

test('the daily limit warns, then stops sending and links to its setting', async () => {
  const none = { soft_micro_usd: null, hard_micro_usd: null }
  const withoutLimits = () => app.person.call(changeChatBudget, { day: none, conversation: none })
  await withoutLimits()
  onTestFinished(async () => void (await withoutLimits()))
  const window = await app.window()
  const { page } = window
  let chat = await newChat(window)
  const question = uniqueName('What does it cost?')
  await ask(chat, question, 'Very little.')

  await window.command('Spending limits of chats…')
  const dialog = window.dialog('Spending limits of chats')
  const day = dialog.getByRole('group', { name: 'All chats, per day' })
  const save = async (warnAt: string, stopAt: string) => {
    await day.getByLabel('Warn at').fill(warnAt)
    await day.getByLabel('Stop at').fill(stopAt)
    await dialog.getByRole('button', { name: 'Save limits' }).click()
  }
  await save('5', '0.0002')
  await day.getByText('Must not be above the hard limit.').waitFor()
  await save('0.0001', '')
  await until('it is saved', () => dialog.getByRole('button', { name: 'Save limits' }).isDisabled())
  await dialog.getByRole('button', { name: 'Done' }).click()
  // The limit also applies to new chats.
  await chat.root.getByRole('status').filter({ hasText: 'spent on chats today.' }).waitFor()
  await chat.listed(question).click()
  const warning = chat.root.getByRole('status').filter({ hasText: 'spent on chats today.' })
  await warning.getByText('No hard limit: requests continue.').waitFor()
  await look(page, 'chat-day-warning', ['dark'])
  await ask(chat, 'And this?', 'It was only a warning.')

  await warning.getByRole('button', { name: 'Change limits' }).click()
  const all = chat.settings.getByRole('group', { name: 'All chats, per day' })
  await all.getByLabel('Stop at').fill('0.0002')
  await chat.settings.getByRole('button', { name: 'Save limits' }).click()
  const stop = chat.root.getByRole('alert').filter({ hasText: 'You’ve reached your limit of $0.0002 for today.' })
  await stop.getByText('Raise the limit, or wait until midnight UTC.').waitFor()
  await look(page, 'chat-day-limit')
  await look.inOtherSizes(page, 'chat-day-limit')
  await chat.settings.getByRole('button', { name: 'Close settings' }).click()

  const requestCount = providers.requests.length
  const expectRefusal = async () => {
    await chat.write('Not now')
    expect(await chat.composer.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
    await chat.composer.locator('textarea').press('Enter')
    expect(await chat.composer.locator('textarea').inputValue()).toBe('Not now')
    expect(providers.requests.length).toBe(requestCount)
  }
  await expectRefusal()
  chat = await newChat(window)
  await stop.waitFor()
  await expectRefusal()
  expect(await chat.listed('Not now').count()).toBe(0)
  await look(page, 'chat-day-limit-new', ['light'])

  await stop.getByRole('button', { name: 'Change limits' }).click()
  await save('', '5')
  await stop.waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Done' }).click()
  expect(await chat.composer.locator('textarea').inputValue()).toBe('Not now')
  await chat.composer.getByRole('button', { name: 'Send' }).click()
  await chat.answered('Hello from a fake.')
})

test('attaches pasted and dropped files and loses nothing after a rejected attachment', async () => {
  const window = await app.window()
  const { page } = window
  const chat = await newChat(window)
  const field = chat.composer.locator('textarea')
  const files = chat.composer.getByRole('list', { name: 'Attached files' })
  await chat.write('What is this?')

  await field.evaluate((input, base64) => {
    const clipboardData = new DataTransfer()
    const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))
    clipboardData.items.add(new File([bytes], 'image.png', { type: 'image/png' }))
    input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, pixel.toString('base64'))
  await files.getByText('image.png').waitFor()

  const folder = temporaryFolder('attachments')
  const file = (name: string, content: Buffer | string) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const notes = file('notes.txt', 'Some notes.')
  const log = file('crash.log', 'It crashed.')
  const archive = file('archive.zip', Buffer.from('PK\u0003\u0004\u0000\u0000'))
  const drawing = file('drawing.pdf', Buffer.from([0x25, 0x50, 0x44, 0x46, 0x00, 0xff]))
  const film = file('film.mp4', Buffer.alloc(chatLimits.imageBytes + 1))
  const essay = file('essay.txt', 'a'.repeat(chatLimits.textBytes + 1))
  const drag = await dragging(page)

  // Drags over the window and its parts. The hint must appear only once.
  const messages = await page.evaluateHandle(() => {
    const paragraphs: string[] = []
    const area = document.querySelector('main form textarea')
    if (area) {
      new MutationObserver(() => paragraphs.push(area.getAttribute('placeholder') ?? '')).observe(area, {
        attributeFilter: ['placeholder'],
      })
    }
    return paragraphs
  })
  const head = chat.root.getByRole('heading', { name: 'What do you want to know?' })
  await drag([notes, log], [head, files, field, chat.composer.getByRole('button', { name: 'Attach files' }), head])
  await files.getByText('notes.txt').waitFor()
  await files.getByText('crash.log').waitFor()
  expect(await messages.jsonValue()).toEqual(['Drop files to attach them', 'Message… (/ for prompts)'])

  await drag([archive, drawing, film, essay], [field])
  const refused = chat.root.getByRole('list', { name: 'Files that were not attached' }).getByRole('listitem')
  for (const [name, wrong] of [
    ['archive.zip', 'Only images and text files can be attached. Use a PNG'],
    ['drawing.pdf', 'Only images and text files can be attached. Use a PNG'],
    [
      'film.mp4',
      'The file is larger than 20 MB. Attach a smaller file. Images can have at most 20 MB, text files 1 MB.',
    ],
    [
      'essay.txt',
      'The text file is larger than 1 MB. Attach a smaller file. Images can have at most 20 MB, text files 1 MB.',
    ],
  ] as const) {
    await refused.filter({ hasText: `${name}: ${wrong}` }).waitFor()
  }
  expect(await field.inputValue()).toBe('What is this?')
  expect(await files.getByRole('listitem').count()).toBe(3)
  await look(page, 'chat-attachment-refused')
  await look.inOtherSizes(page, 'chat-attachment-refused')

  providers.play({ parts: [{ text: 'A dot, and notes of a crash.' }], usage })
  await chat.composer.getByRole('button', { name: 'Send' }).click()
  await chat.answered('A dot, and notes of a crash.')
  await refused.first().waitFor({ state: 'detached' })
  const [{ body } = { body: undefined }] = providers.requests
  const requestText = JSON.stringify(body.messages)
  for (const part of ['What is this?', 'Some notes.', 'It crashed.', pixel.toString('base64')]) {
    expect(requestText).toContain(part)
  }
})

/** Simulates a drag of files from outside over several elements and drops them on the last one. */
async function dragging(page: Page) {
  const session = await page.context().newCDPSession(page)
  onTestFinished(() => session.detach())
  return async (files: string[], over: readonly ReturnType<Page['locator']>[]): Promise<void> => {
    const data = { items: [], files, dragOperationsMask: 1 }
    let position = { x: 1, y: 1 }
    const tell = (type: 'dragEnter' | 'dragOver' | 'drop') =>
      session.send('Input.dispatchDragEvent', { type, ...position, data })
    for (const [index, element] of over.entries()) {
      const box = await element.boundingBox()
      if (!box) throw new Error('It is not in view.')
      position = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
      if (index === 0) await tell('dragEnter')
      await tell('dragOver')
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    }
    await tell('drop')
  }
}

test.each([
  {
    program: 'Claude',
    exported: (title: string) => [{ ...claudeConversation(), uuid: title, name: title }],
    last: 'Thanks!',
    answer: 'Short notes.',
    reasoning: 'They are short.',
  },
  {
    program: 'LibreChat',
    exported: (title: string) => ({ ...libreChatConversation(), conversationId: title, title }),
    last: 'Sure?',
    answer: 'About 9 l.',
    reasoning: undefined,
  },
  {
    program: 'Open WebUI',
    exported: (title: string) => [{ ...openWebUiConversation(), id: title, title }],
    last: 'What is 15 * 17?',
    answer: '255',
    reasoning: 'Let me see > that',
  },
])('imports an export of $program and continues the chat', async (program) => {
  const window = await app.window()
  const { page } = window
  const chat = await openChat(window)
  const title = uniqueName(program.program)
  await window.command('Import chats…')
  const dialog = window.dialog('Import chats')
  const choose = async (label: string, name: string, buffer: Buffer) => {
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      dialog.getByRole('button', { name: label }).click(),
    ])
    await chooser.setFiles({ name, mimeType: 'application/json', buffer })
  }
  const exported = Buffer.from(JSON.stringify(program.exported(title)))
  await choose('Choose a file', 'export.zip', Buffer.from('PK\u0003\u0004'))
  await dialog.getByText('The file is a ZIP archive. Unpack it').waitFor()
  await choose('Choose a file', 'half.json', exported.subarray(0, exported.length / 2))
  await dialog.getByText('The file is not valid JSON, or its download is incomplete.').waitFor()
  await choose('Choose a file', 'conversations.json', exported)
  await dialog.getByText(`Imported 1 chat of 1 from ${program.program}`).waitFor()
  await look(page, `chat-import-${program.program.toLowerCase().replace(' ', '-')}`, ['dark'])
  await choose('Import another file', 'conversations.json', exported)
  await dialog.getByText('1 chat had nothing new.').waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()

  await chat.listed(title).click()
  await chat.messages.getByText(program.last, { exact: true }).waitFor()
  await chat.answered(program.answer)
  if (program.reasoning !== undefined) {
    await chat.answers.getByRole('button', { name: 'Reasoning' }).click()
    await chat.answers.getByText(program.reasoning, { exact: true }).waitFor()
  }
  await chat.composer.getByRole('button', { name: /^Model:/ }).click()
  await page.getByRole('option', { name: /^kimi-k2\.5/ }).click()
  await ask(chat, 'Go on', 'With all of it before me.')
  await eventually(() => {
    const requestText = JSON.stringify(providers.requests[0]?.body.messages)
    expect(requestText).toContain(program.answer)
    expect(requestText).toContain('Go on')
  })
})
