import { Terminal } from '@xterm/headless'
import { expect, test } from 'vitest'
import { type ClipboardAnswer, decodeText, handleClipboardRequests } from './clipboardRequests.ts'

const encoded = (text: string) => Buffer.from(text).toString('base64')

function open({ policy = 'ask', works = true }: { policy?: 'ask' | ClipboardAnswer; works?: boolean } = {}) {
  const terminal = new Terminal({ allowProposedApi: true })
  const clipboard: string[] = []
  let answer: ClipboardAnswer | undefined
  const requests = handleClipboardRequests({
    parser: terminal.parser as never,
    policy: () => policy,
    remembered: {
      read: () => answer,
      write: (next) => {
        answer = next
      },
    },
    write: async (text) => works && clipboard.push(text) > 0,
  })
  const sent: string[] = []
  terminal.onData((text) => sent.push(text))
  const offer = (text: string) =>
    new Promise<void>((parsed) => terminal.write(`\x1b]52;c;${encoded(text)}\x07`, parsed))
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  return { requests, clipboard, offer, write, sent }
}

test('prompts the user once and copies the text to the clipboard', async () => {
  const { requests, clipboard, offer } = open()
  await offer('naïve 漢字\nnext')
  expect(requests.pendingRequest.now).toBe('naïve 漢字\nnext')
  expect(clipboard).toEqual([])
  requests.answer('allow')
  await offer('again')
  expect(clipboard).toEqual(['naïve 漢字\nnext', 'again'])
  expect(requests.pendingRequest.now).toBeUndefined()
})

test('remembers a refusal by the user', async () => {
  const { requests, clipboard, offer } = open()
  await offer('one')
  requests.answer('refuse')
  await offer('two')
  expect(requests.pendingRequest.now).toBeUndefined()
  expect(clipboard).toEqual([])
})

test('prompts the user when the browser blocks clipboard access', async () => {
  const { requests, offer } = open({ policy: 'allow', works: false })
  await offer('text')
  await Promise.resolve()
  expect(requests.pendingRequest.now).toBe('text')
})

test('never reveals the clipboard to a program', async () => {
  const { requests, clipboard, write, sent } = open({ policy: 'allow' })
  await write('\x1b]52;c;?\x07\x1b]52;;?\x1b\\')
  expect({ asked: requests.pendingRequest.now, clipboard, sent }).toEqual({ asked: undefined, clipboard: [], sent: [] })
})

test.each([
  ['c;aGk=', 'hi'],
  [';aGk=', 'hi'],
  ['pc;aGk=', 'hi'],
  ['c;', undefined],
  ['c;?', undefined],
  ['c;a', undefined],
  ['c;/w==', undefined],
  ['aGk=', undefined],
])('decodes %s as %s', (data, text) => {
  expect(decodeText(data)).toBe(text)
})
