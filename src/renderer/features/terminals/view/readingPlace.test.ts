import { Terminal } from '@xterm/headless'
import { expect, test } from 'vitest'
import { trackReadingPlace } from './readingPlace.ts'

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, place) => `line ${from + place}\r\n`).join('')

function open() {
  const terminal = new Terminal({ cols: 20, rows: 5, scrollback: 200, allowProposedApi: true })
  const moves: (() => void)[] = []
  const { place, toEnd } = trackReadingPlace(terminal as never, (listener) => {
    moves.push(listener)
    return () => {}
  })
  const write = (text: string) => new Promise<void>((parsed) => terminal.write(text, parsed))
  const top = () => {
    const { active } = terminal.buffer
    return active.getLine(active.viewportY)?.translateToString(true)
  }
  return { terminal, place, toEnd, write, top, moved: () => moves.forEach((it) => void it()) }
}

test('preserves the scroll position while output arrives and reports new output', async () => {
  const { terminal, place, write, top } = open()
  await write(lines(0, 50))
  expect(place.now).toBe('end')
  terminal.scrollToLine(10)
  expect(place.now).toBe('above')
  await write(lines(50, 120))
  expect([top(), place.now]).toEqual(['line 10', 'news'])
  terminal.scrollToBottom()
  expect(place.now).toBe('end')
})

test('preserves the scroll position when a program redraws everything', async () => {
  const { terminal, write, top, place } = open()
  await write(lines(0, 50))
  terminal.scrollToLine(10)
  await write(`\x1b[2J\x1b[3J\x1b[H${lines(0, 60)}`)
  expect(top()).toBe('line 10')
  await write('\x1b[2J\x1b[3J\x1b[H')
  await write(lines(0, 8))
  await write(lines(8, 60))
  expect([top(), place.now]).toEqual(['line 10', 'news'])
})

test('preserves the scroll position over repeated redraws', async () => {
  const { terminal, write, top } = open()
  await write(lines(0, 50))
  terminal.scrollToLine(10)
  const drawn = `\x1b[2J\x1b[3J\x1b[H${lines(0, 60)}`
  await write(drawn + drawn + drawn.slice(0, 40))
  await write(drawn.slice(40) + drawn)
  await write(lines(60, 90))
  expect(top()).toBe('line 10')
})

test('does not restore the scroll position after the user scrolls on', async () => {
  const { terminal, write, moved, toEnd, place } = open()
  await write(lines(0, 50))
  terminal.scrollToLine(10)
  await write('\x1b[2J\x1b[3J\x1b[H')
  toEnd()
  await write(lines(0, 60))
  expect(place.now).toBe('end')
  terminal.scrollToLine(10)
  await write('\x1b[2J\x1b[3J\x1b[H')
  moved()
  terminal.scrollToBottom()
  await write(lines(0, 60))
  expect(place.now).toBe('end')
})
