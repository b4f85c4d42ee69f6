import { Terminal } from '@xterm/headless'
import { expect, test } from 'vitest'
import { createXtermScreen } from './xtermScreen.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function open() {
  const terminal = new Terminal({ cols: 20, rows: 4, scrollback: 100, allowProposedApi: true })
  const screen = createXtermScreen(terminal as never)
  const rows = () => {
    const { active } = terminal.buffer
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true))
  }
  const parsed = () => new Promise<void>((done) => screen.write(bytes(''), done))
  return { terminal, screen, rows, parsed }
}

test('applies a resize between the outputs around it', async () => {
  const { screen, rows, parsed } = open()
  screen.redraw({ cols: 10, rows: 4 }, bytes(''))
  screen.write(bytes('0123456789\r\n'), () => {})
  screen.resize({ cols: 5, rows: 4 })
  screen.write(bytes('abcdefg'), () => {})
  await parsed()
  expect(rows()).toEqual(['01234', '56789', 'abcde', 'fg'])
})

test('a redraw discards previous content and unparsed output', async () => {
  const { terminal, screen, rows, parsed } = open()
  screen.write(bytes('old\r\n\x1b[?1049hold too'), () => {})
  screen.redraw({ cols: 12, rows: 2 }, bytes('new'))
  await parsed()
  expect(rows()).toEqual(['new', ''])
  expect([terminal.cols, terminal.rows, terminal.buffer.active.type]).toEqual([12, 2, 'normal'])
})

test('displays a redraw as a whole', async () => {
  const { terminal, screen, parsed } = open()
  const states: boolean[] = []
  screen.redraw({ cols: 20, rows: 4 }, bytes('new'))
  terminal.parser.registerOscHandler(7777, () => {
    states.push(terminal.modes.synchronizedOutputMode)
    return true
  })
  screen.redraw({ cols: 20, rows: 4 }, bytes('new\x1b]7777;\x07'))
  await parsed()
  expect([...states, terminal.modes.synchronizedOutputMode]).toEqual([true, false])
})

test('a redraw preserves the scroll position', async () => {
  const { terminal, screen, parsed } = open()
  const lines = bytes(Array.from({ length: 30 }, (_, line) => `line ${line}`).join('\r\n'))
  screen.redraw({ cols: 20, rows: 4 }, lines)
  await parsed()
  terminal.scrollLines(-10)
  screen.redraw({ cols: 20, rows: 4 }, lines)
  await parsed()
  const { baseY, viewportY } = terminal.buffer.active
  expect(baseY - viewportY).toBe(10)
})

test('a redraw replaces queued output and reports it as parsed', async () => {
  const { screen, rows, parsed } = open()
  let counted = 0
  for (let n = 0; n < 100; n++) screen.write(bytes('flood\r\n'.repeat(1_000)), () => void counted++)
  let drawn = false
  screen.redraw({ cols: 20, rows: 4 }, bytes('now'), undefined, () => {
    drawn = true
  })
  await parsed()
  expect([counted, drawn, rows()]).toEqual([100, true, ['now', '', '', '']])
})

test('preserves the order of queued resizes and outputs', async () => {
  const { screen, rows, parsed } = open()
  screen.redraw({ cols: 10, rows: 4 }, bytes(''))
  screen.write(bytes(`${'x'.repeat(40_000)}\x1bc`), () => {})
  screen.write(bytes('0123456789\r\n'), () => {})
  screen.resize({ cols: 5, rows: 4 })
  screen.write(bytes('abcdefg'), () => {})
  await parsed()
  expect(rows()).toEqual(['01234', '56789', 'abcde', 'fg'])
})

test('a closed screen does not change its terminal', async () => {
  const { terminal, screen } = open()
  const resized: number[] = []
  terminal.onResize(({ cols }) => resized.push(cols))
  screen.redraw({ cols: 10, rows: 2 }, bytes('new'))
  screen.write(bytes('more'), () => {})
  screen.resize({ cols: 5, rows: 2 })
  screen.close()
  await new Promise<void>((done) => terminal.write('', done))
  expect(resized).toEqual([])
})
