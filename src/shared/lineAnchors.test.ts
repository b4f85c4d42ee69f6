import { Terminal } from '@xterm/headless'
import { expect, test } from 'vitest'
import { createLineAnchors } from './lineAnchors.ts'

/** Opens a terminal with one line per letter. Anchors and xterm.js markers follow the same lines. */
async function open(lines = 'abcdefgh') {
  const terminal = new Terminal({ cols: 20, rows: 4, scrollback: 6, allowProposedApi: true })
  const anchors = createLineAnchors(terminal)
  const followed: { marker: { line: number; isDisposed: boolean }; anchor: { line: number; isDisposed: boolean } }[] =
    []
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  const follow = (): void => {
    const marker = terminal.registerMarker(0)
    const anchor = anchors.add(terminal.buffer.active.baseY + terminal.buffer.active.cursorY)
    if (marker && anchor) followed.push({ marker, anchor })
  }
  for (const letter of lines) {
    follow()
    await write(`${letter}\r\n`)
  }
  const getLine = ({ line, isDisposed }: { line: number; isDisposed: boolean }) => (isDisposed ? 'gone' : line)
  const compare = (): void => {
    expect(followed.map(({ anchor }) => getLine(anchor))).toEqual(followed.map(({ marker }) => getLine(marker)))
  }
  return { terminal, anchors, write, follow, compare, getLines: () => followed.map(({ anchor }) => getLine(anchor)) }
}

test('follows a line until it scrolls out of the buffer', async () => {
  const { write, compare, getLines } = await open()
  expect(getLines()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  await write('x\r\n'.repeat(5))
  compare()
  expect(getLines()).toEqual(['gone', 'gone', 'gone', 'gone', 0, 1, 2, 3])
})

test.each([
  ['lines are inserted', '\x1b[2;1H\x1b[2L'],
  ['lines are deleted', '\x1b[2;1H\x1b[2M'],
  ['a region scrolls up', '\x1b[2;3r\x1b[3;1H\n\n\x1b[r'],
  ['a region scrolls down', '\x1b[2;3r\x1b[2;1H\x1bM\x1b[r'],
  ['the screen is erased', '\x1b[2J'],
  ['the screen is erased from the cursor on', '\x1b[3;1H\x1b[J'],
  ['the lines above are erased', '\x1b[3J'],
  ['a program fills the screen and leaves it', '\x1b[?1049hxx\r\n\x1b[?1049l'],
])('follows a line when %s', async (_, sequence) => {
  const { write, compare, follow } = await open()
  await write(sequence)
  compare()
  await write('y\r\n')
  follow()
  await write('z\r\n'.repeat(3))
  compare()
})

test('follows a line when the terminal becomes narrower and wider', async () => {
  const { terminal, write, compare } = await open()
  await write(`${'long '.repeat(6)}\r\n`)
  for (const cols of [7, 30]) {
    terminal.resize(cols, 4)
    compare()
  }
})

test('drops all lines on a reset and follows none on the alternate screen', async () => {
  const { anchors, write, getLines } = await open()
  await write('\x1bc')
  expect(new Set(getLines())).toEqual(new Set(['gone']))
  await write('\x1b[?1049h')
  expect(anchors.add(0)).toBeUndefined()
})
