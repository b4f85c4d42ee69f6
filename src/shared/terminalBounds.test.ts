import { Terminal } from '@xterm/headless'
import { expect, test } from 'vitest'
import { computeChunkBytes, limitTerminal, limitWidths } from './terminalBounds.ts'

const huge = 2_147_483_647
const lines = Array.from({ length: 6 }, (_, line) => `line ${line}`).join('\r\n')

function open({ cols = 12, rows = 6, scrollback = 100 } = {}) {
  const terminal = new Terminal({ cols, rows, scrollback, allowProposedApi: true })
  limitWidths(terminal)
  limitTerminal(terminal)
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  const readScreen = () => {
    const { active } = terminal.buffer
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true))
  }
  return {
    terminal,
    write,
    shown: readScreen,
    getPosition: () => [terminal.buffer.active.cursorX, terminal.buffer.active.cursorY],
  }
}

test.each([
  ['S', 6],
  ['T', 6],
  ['L', 6],
  ['M', 6],
  ['@', 12],
  ['P', 12],
  ['X', 12],
  ['I', 12],
  ['Z', 12],
  ['b', 72],
])('CSI %s with a huge count stops at the screen bounds', async (final, count) => {
  for (const before of ['\x1b[3;4Ha', '\x1b[2;4r\x1b[3;4Ha', '\x1b[?1049h\x1b[3;4Ha', '\x1b[?7l\x1b[3;4Ha']) {
    const [endless, bounded] = [open(), open()]
    await endless.write(`${lines}${before}\x1b[${huge}${final}`)
    await bounded.write(`${lines}${before}\x1b[${count}${final}`)
    expect(endless.shown()).toEqual(bounded.shown())
    expect(endless.getPosition()).toEqual(bounded.getPosition())
  }
})

test.each(['S', 'T', 'L', 'M'])('CSI %s moves many lines with the same result as line by line', async (final) => {
  const regions = ['', '\x1b[4;20r', '\x1b[4;20r\x1b[?6h', '\x1b[?1049h', '\x1b[44m', '\x1b[7;9r']
  for (const region of regions) {
    for (const position of ['\x1b[1;1H', '\x1b[8;3H', '\x1b[24;5H']) {
      const before = `${Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\r\n')}${region}${position}`
      const [atOnce, oneByOne] = [open({ rows: 24 }), open({ rows: 24 })]
      for (const terminal of [atOnce, oneByOne]) await terminal.write(before)
      const markers = [atOnce, oneByOne].map(({ terminal }) =>
        [-12, -4, 0, 3].map((offset) => terminal.registerMarker(offset)),
      )
      await atOnce.write(`\x1b[13${final}`)
      await oneByOne.write(`\x1b[1${final}`.repeat(13))
      expect(atOnce.shown()).toEqual(oneByOne.shown())
      expect(atOnce.getPosition()).toEqual(oneByOne.getPosition())
      const [mine, theirs] = markers.map((group) => group.map((value) => value && [value.line, value.isDisposed]))
      expect(mine).toEqual(theirs)
      const cell = ({ terminal }: typeof atOnce) =>
        Array.from({ length: 24 }, (_, row) => terminal.buffer.active.getLine(row)?.getCell(9)?.getBgColor())
      expect(cell(atOnce)).toEqual(cell(oneByOne))
    }
  }
})

test.each(['S', 'T', 'L', 'M', 'b', '@', 'P', 'X', 'I', 'Z', 'A', 'B', 'C', 'D', 'r', 't', 'J', 'K', 'H', 'g', 'm'])(
  'CSI %s returns quickly and stays on the screen in every form',
  async (final) => {
    const { terminal, write } = open()
    const counts = [`${huge}`, `${huge};${huge}`, `${huge}:${huge}`, '9'.repeat(5_000), `1;${huge}`, `${huge};1`]
    for (const prefix of ['', '?', '>', '=', '<']) {
      for (const between of ['', ' ', '!', '"', '$', "'"]) {
        for (const count of counts) await write(`a\x1b[${prefix}${count}${between}${final}`)
      }
    }
    const { cursorX, cursorY, length } = terminal.buffer.active
    expect(cursorX).toBeLessThanOrEqual(12)
    expect(cursorY).toBeLessThan(6)
    expect(length).toBeLessThanOrEqual(106)
  },
)

test('counts each combining mark when repeating a character', async () => {
  const { write, shown: readScreen } = open()
  await write(`a${'\u0301'.repeat(9)}\x1b[${huge}b`)
  expect(readScreen().join('').length).toBeLessThan(6 * 12 + 20)
})

test('limits the combining marks in a cell', async () => {
  const { terminal, write } = open()
  await write(`a${'\u0301'.repeat(5_000)}`)
  const cells = Array.from({ length: 12 }, (_, x) => terminal.buffer.active.getLine(0)?.getCell(x)?.getChars().length)
  expect(Math.max(...cells.map((units) => units ?? 0))).toBe(16)
  await write('\x1b[2J\x1b[Ha\u0301b')
  expect(terminal.buffer.active.getLine(terminal.buffer.active.baseY)?.translateToString(true)).toBe('a\u0301b')
})

test('drops an oversized control string and processes the output after it', async () => {
  const { terminal, write, shown: readScreen } = open()
  const titles: string[] = []
  terminal.onTitleChange((title) => void titles.push(title))
  await write(`\x1b]0;short\x07\x1b]0;${'x'.repeat(300_000)}`)
  await write(`${'y'.repeat(300_000)}\x07after\x1b]0;next\x1b\\`)
  expect(titles).toEqual(['short', 'next'])
  expect(readScreen()[0]).toBe('after')
})

test('limits the length of a device control string', async () => {
  const { terminal, write, shown: readScreen } = open()
  const answers: string[] = []
  terminal.onData((data) => void answers.push(data))
  await write(`\x1bP$q${'m'.repeat(300_000)}\x1b\\\x1bP$qm\x1b\\end`)
  expect([answers, readScreen()[0]]).toEqual([['\x1bP1$r0m\x1b\\'], 'end'])
})

test('allows longer strings for the clipboard', async () => {
  const { terminal, write } = open()
  const offered: number[] = []
  terminal.parser.registerOscHandler(52, (data) => offered.push(data.length) > 0)
  await write(`\x1b]52;c;${'A'.repeat(1024 * 1024)}\x07`)
  await write(`\x1b]52;c;${'A'.repeat(1024 * 1024 + 100)}\x07`)
  expect(offered).toEqual([1024 * 1024 + 2])
})

test('evicts the oldest links beyond the limit', async () => {
  const { terminal, write } = open()
  const links = Array.from({ length: 20_000 }, (_, index) => `\x1b]8;;http://x.example/${index}\x07`)
  await write(links.join(''))
  const { _core } = terminal as unknown as {
    _core: {
      buffer: { markers: unknown[] }
      _oscLinkService: { _dataByLinkId: Map<number, unknown>; getLinkData(id: number): { uri: string } | undefined }
    }
  }
  expect(_core.buffer.markers.length).toBeLessThanOrEqual(4_097)
  const newest = Math.max(..._core._oscLinkService._dataByLinkId.keys())
  expect(_core._oscLinkService.getLinkData(newest)?.uri).toBe('http://x.example/19999')
})

test('evicts links of screens that were reset', async () => {
  const { terminal, write } = open()
  for (let index = 0; index < 100; index++) await write(`\x1b]8;;http://x.example\x07`.repeat(100).concat('\x1bc'))
  const { _core } = terminal as unknown as { _core: { _oscLinkService: { _dataByLinkId: Map<number, unknown> } } }
  expect(_core._oscLinkService._dataByLinkId.size).toBeLessThanOrEqual(4_097)
})

test('resizes a terminal full of wide lines to a narrow width', async () => {
  const { terminal, write, shown: readScreen } = open({ cols: 1_000, rows: 40, scrollback: 4_000 })
  await write(`${'wide '.repeat(800_000)}\r\n`)
  terminal.resize(2, 10)
  await write('\x1b[2J\x1b[Hok')
  expect(terminal.buffer.active.length).toBe(4_010)
  expect(readScreen().slice(-10)).toEqual(['ok', ...Array.from({ length: 9 }, () => '')])
})

test('resizes a screen filled by one wrapped line to a narrow width', async () => {
  const { terminal, write, shown: readScreen } = open({ cols: 10, rows: 4, scrollback: 2 })
  await write('x'.repeat(200))
  terminal.resize(5, 4)
  await write('\x1b[2J\x1b[Hok')
  expect(readScreen()).toContain('ok')
})

test.each([
  [80, 20],
  [80, 79],
  [40, 80],
])('reflows lines of %i columns to %i like unmodified xterm.js', async (before, after) => {
  const [bounded, plain] = [
    open({ cols: before, rows: 10, scrollback: 200 }),
    open({ cols: before, rows: 10, scrollback: 200 }),
  ]
  Reflect.deleteProperty((plain.terminal as unknown as { _core: object })._core, 'resize')
  const text = Array.from({ length: 30 }, (_, line) => `${line} `.repeat(line * 3)).join('\r\n')
  for (const { write, terminal } of [bounded, plain]) {
    await write(text)
    terminal.resize(after, 12)
  }
  expect(bounded.shown()).toEqual(plain.shown())
  expect(bounded.getPosition()).toEqual(plain.getPosition())
})

test('uses smaller chunks for larger screens', () => {
  expect(computeChunkBytes({ cols: 80, rows: 24 })).toBe(2_048)
  expect(computeChunkBytes({ cols: 400, rows: 200 })).toBe(419)
  expect(computeChunkBytes({ cols: 1_000, rows: 1_000 })).toBe(64)
})
