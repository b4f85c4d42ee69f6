import xterm from '@xterm/headless'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findColors, findPlainRun } from './unseenOutput.ts'

const rows = 5
const scrollback = 20
const maxLines = scrollback + 2 * rows

type Terminal = InstanceType<typeof xterm.Terminal>

function terminal(): Terminal {
  return new xterm.Terminal({ cols: 12, rows, scrollback, allowProposedApi: true })
}

const writeTo = (to: Terminal, bytes: Uint8Array): Promise<void> => new Promise((resolve) => to.write(bytes, resolve))

function state(target: Terminal): unknown {
  const buffer = target.buffer.active
  const lines = Array.from({ length: buffer.length }, (_, y) => readRow(buffer.getLine(y)))
  return { lines, x: buffer.cursorX, y: buffer.cursorY }
}

function readRow(line: ReturnType<Terminal['buffer']['active']['getLine']>): unknown {
  return Array.from({ length: line?.length ?? 0 }, (_, x) => {
    const cell = line?.getCell(x)
    return [cell?.getChars(), cell?.getFgColor(), cell?.getBgColor(), cell?.isBold()]
  })
}

const lines = fc
  .array(
    fc.constantFrom(
      'y',
      '',
      'wide 漢字',
      '\x1b[31mred',
      '\x1b[0;1;44mblue',
      '\x1b[m',
      'x\x1b[K',
      '\x1b[38;5;9mc\x1b[0m',
      'a line that wraps around',
      'tab\tb\b\b',
      'é\x07',
      '😀',
    ),
    {
      minLength: 50,
      maxLength: 120,
    },
  )
  .chain((texts) => fc.constantFrom('\r\n', '\r\n', '\n').map((end) => texts.join(end) + end))

test('skipping output that scrolls off leaves the final screen unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('', 'x', '\x1b[31mred\r\n', '\x1b[3;4H'),
      lines,
      fc.string(),
      async (before, run, after) => {
        const [all, spared] = [terminal(), terminal()]
        for (const terminal of [all, spared]) await writeTo(terminal, Buffer.from(before))
        const bytes = Buffer.from(run)
        const { visibleFrom } = findPlainRun(bytes, 0, maxLines)
        await writeTo(all, bytes)
        await writeTo(spared, findColors(bytes, 0, visibleFrom))
        await writeTo(spared, bytes.subarray(visibleFrom))
        for (const terminal of [all, spared]) await writeTo(terminal, Buffer.from(after))
        expect(state(spared)).toEqual(state(all))
        all.dispose()
        spared.dispose()
      },
    ),
    { numRuns: 60, seed: 7 },
  )
})

test('skips nearly all output of yes', () => {
  const bytes = Buffer.from('y\r\n'.repeat(10_000))
  expect(findPlainRun(bytes, 0, maxLines)).toEqual({ until: bytes.length, visibleFrom: bytes.length - maxLines * 3 })
})

test.each([
  ['an escape sequence', '\x1b[2J'],
  ['half of one', '\x1b[3'],
  ['a C1 control', '\u009b2J'],
  ['a shift', '\x0e'],
  ['a delete', '\x7f'],
])('skips no output across %s', (_, control) => {
  const head = 'y\r\n'.repeat(maxLines - 1)
  const bytes = Buffer.from(`${head}${control}${'y\r\n'.repeat(maxLines - 1)}`)
  expect(findPlainRun(bytes, 0, maxLines)).toEqual({ until: Buffer.byteLength(head), visibleFrom: 0 })
})
