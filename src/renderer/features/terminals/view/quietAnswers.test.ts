import { Terminal } from '@xterm/headless'
import { expect, test } from 'vitest'
import { onUserInput, suppressReplies } from './quietAnswers.ts'

const queries = {
  'primary device attributes': '\x1b[c',
  'secondary device attributes': '\x1b[>c',
  'tertiary device attributes': '\x1b[=c',
  status: '\x1b[5n',
  'cursor position': '\x1b[6n',
  'cursor position, private': '\x1b[?6n',
  version: '\x1b[>q',
  'ANSI mode': '\x1b[4$p',
  'private mode': '\x1b[?2004$p',
  'status string': '\x1bP$qm\x1b\\',
  'window size': '\x1b[14t\x1b[16t\x1b[18t',
  'title reports': '\x1b[20t\x1b[21t',
  'palette color': '\x1b]4;1;?\x07',
  'text color': '\x1b]10;?\x1b\\',
  background: '\x1b]11;?\x1b\\',
  'cursor color': '\x1b]12;?\x07',
  'focus reports': '\x1b[?1004h',
}

function open() {
  const terminal = new Terminal({ cols: 40, rows: 5, allowProposedApi: true })
  const sent: string[] = []
  onUserInput(terminal as never, (text) => sent.push(text))
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  return { terminal, sent, write }
}

test('the terminal replies to queries by default', async () => {
  const { sent, write } = open()
  await write('\x1b[c\x1b[5n')
  expect(sent).toHaveLength(2)
})

test.each(Object.entries(queries))('suppresses the reply to %s', async (_, query) => {
  const { terminal, sent, write } = open()
  suppressReplies(terminal.parser as never)
  await write(`before${query}after`)
  expect(sent).toEqual([])
  expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe('beforeafter')
})

test('sends user input right after a query', async () => {
  const { terminal, sent, write } = open()
  suppressReplies(terminal.parser as never)
  await write(Object.values(queries).join(''))
  terminal.input('ls\r')
  expect(sent).toEqual(['ls\r'])
})

test('applies modes that share a final byte with a query', async () => {
  const { terminal, write } = open()
  suppressReplies(terminal.parser as never)
  await write('\x1b[?2004h\x1b[?1004h\x1b[?1h')
  expect(terminal.modes).toMatchObject({
    bracketedPasteMode: true,
    sendFocusMode: true,
    applicationCursorKeysMode: true,
  })
})
