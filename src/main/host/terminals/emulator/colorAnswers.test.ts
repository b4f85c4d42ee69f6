import xterm from '@xterm/headless'
import { expect, test } from 'vitest'
import { defaultColors } from '#shared/contract/terminalColors.ts'
import { createColorAnswers } from './colorAnswers.ts'

function open() {
  const terminal = new xterm.Terminal({ allowProposedApi: true })
  const answers: string[] = []
  const { use } = createColorAnswers(terminal.parser, (data) => answers.push(data))
  const ask = async (text: string) => {
    answers.length = 0
    await new Promise<void>((parsed) => terminal.write(text, parsed))
    return answers.join('')
  }
  return { ask, use }
}

test('replies with default colors until a client attaches', async () => {
  const { ask, use } = open()
  expect(await ask('\x1b]11;?\x07')).toBe('\x1b]11;rgb:1010/1111/1313\x1b\\')
  use({ ...defaultColors, background: '#FFFFFF' })
  expect(await ask('\x1b]11;?\x1b\\')).toBe('\x1b]11;rgb:ffff/ffff/ffff\x1b\\')
  expect(await ask('\x1b]10;?;?;?\x07')).toBe(
    '\x1b]10;rgb:e8e8/e9e9/ebeb\x1b\\\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b]12;rgb:e8e8/e9e9/ebeb\x1b\\',
  )
})

test('replies to queries for each palette color', async () => {
  const { ask } = open()
  expect(await ask('\x1b]4;1;?;7;?\x07')).toBe('\x1b]4;1;rgb:ffff/7b7b/7b7b\x1b\\\x1b]4;7;rgb:c8c8/cccc/d4d4\x1b\\')
  expect(await ask('\x1b]4;16;?;231;?;244;?\x07')).toBe(
    '\x1b]4;16;rgb:0000/0000/0000\x1b\\\x1b]4;231;rgb:ffff/ffff/ffff\x1b\\\x1b]4;244;rgb:8080/8080/8080\x1b\\',
  )
})

test.each(['\x1b]4;256;?\x07', '\x1b]4;x;?\x07', '\x1b]4\x07', '\x1b]11;#ffffff\x07', '\x1b]12;?;?\x07'])(
  'an invalid color query gets at most one reply: %j',
  async (text) => {
    const { ask } = open()
    expect((await ask(text)).match(/rgb:/g) ?? []).toHaveLength(text.includes('12;') ? 1 : 0)
  },
)
