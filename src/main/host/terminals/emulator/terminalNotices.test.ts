import xterm from '@xterm/headless'
import { expect, test } from 'vitest'
import { watchTerminalNotices } from './terminalNotices.ts'

async function noticesIn(output: string): Promise<string[]> {
  const terminal = new xterm.Terminal({ allowProposedApi: true })
  const notices: string[] = []
  watchTerminalNotices(terminal.parser, (text) => notices.push(text))
  await new Promise<void>((done) => terminal.write(output, done))
  terminal.dispose()
  return notices
}

test('reports notifications sent by OSC 9, 777 and 99', async () => {
  expect(await noticesIn('\x1b]9;Codex wants your approval\x07')).toEqual(['Codex wants your approval'])
  expect(await noticesIn('\x1b]777;notify;Claude;Needs a decision; now\x1b\\')).toEqual([
    'Claude: Needs a decision; now',
  ])
  expect(await noticesIn('\x1b]777;notify;Done;\x07')).toEqual(['Done'])
  expect(await noticesIn('\x1b]99;i=1:d=0;Build\x07\x1b]99;i=1:p=body;It failed\x07')).toEqual(['Build', 'It failed'])
  expect(await noticesIn(`\x1b]99;e=1;${btoa('Look here')}\x07`)).toEqual(['Look here'])
})

test('does not treat progress, queries and other commands as notifications', async () => {
  const others = [
    '9;4;1;50',
    '9;4',
    '9;9;/root',
    '777;precmd',
    '777;other;x',
    '99;p=?;',
    '99;i=1:p=close;',
    '99;p=icon;x',
  ]
  expect(await noticesIn(others.map((data) => `\x1b]${data}\x07`).join(''))).toEqual([])
})

test('program output cannot inject control sequences into a notification', async () => {
  expect(await noticesIn(`\x1b]9;a\u202Eb\u200b ${'x'.repeat(500)}\x07`)).toEqual([`a b ${'x'.repeat(195)}…`])
})
