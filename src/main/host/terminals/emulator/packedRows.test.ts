import serializeAddon from '@xterm/addon-serialize'
import xterm from '@xterm/headless'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPackedRows, type LiveRow, type RowBuffer } from './packedRows.ts'
import { createRowPacker } from './rowPacker.ts'

type Inner = {
  writeSync(bytes: Uint8Array): void
  readonly buffers: { readonly normal: RowBuffer & { readonly ydisp: number; readonly y: number; readonly x: number } }
}

function emulator() {
  const terminal = new xterm.Terminal({ cols: 12, rows: 4, scrollback: 20, allowProposedApi: true, logLevel: 'off' })
  const serializer = new serializeAddon.SerializeAddon()
  // Typed for the browser's terminal. The addon uses only features that the headless terminal also has.
  terminal.loadAddon(serializer as unknown as Parameters<typeof terminal.loadAddon>[0])
  // Same access as in screenCore.ts.
  const inner = (terminal as unknown as { _core: Inner })._core
  return { terminal, inner, serializer }
}
type Emulator = ReturnType<typeof emulator>

type Step = { write: string } | { cols: number; rows: number } | 'read'

const controls = [
  '\r\n',
  '\n',
  '\r',
  '\t',
  '\b',
  '\x1b[m',
  '\x1b[1;3;31m',
  '\x1b[38;5;200;44m',
  '\x1b[38;2;255;254;253;48;2;1;2;3m',
  '\x1b[4:3;58;5;9m',
  '\x1b[7;9;53m',
  '\x1b]8;id=a;https://example.org\x07',
  '\x1b]8;;\x07',
  '\x1b[K',
  '\x1b[1K',
  '\x1b[J',
  '\x1b[2J',
  '\x1b[3J',
  '\x1b[H',
  '\x1b[3;5H',
  '\x1b[2A',
  '\x1b[10C',
  '\x1b[2L',
  '\x1b[2M',
  '\x1b[3@',
  '\x1b[2P',
  '\x1b[3X',
  '\x1b[2S',
  '\x1b[2T',
  '\x1bM',
  '\x1bD',
  '\x1b[1;3r',
  '\x1b[2;4r',
  '\x1b[r',
  '\x1b[4h',
  '\x1b[4l',
  '\x1b[?7l',
  '\x1b[?7h',
  '\x1b[?1049h',
  '\x1b[?1049l',
  '\x1b[1"q',
  '\x1b[?2J',
  '\x1b[3b',
  '\x1b7',
  '\x1b8',
  '\x1b#8',
  '\x1bc',
]
const texts = [
  'words and more',
  '    ',
  '漢字かな',
  'é',
  'e\u0301',
  'a\u0301\u0302\u0303',
  '👩‍🚀',
  '😀😀',
  '\u00ad',
  '|',
  '𝒳',
]

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...texts) },
  { weight: 3, arbitrary: fc.constantFrom(...controls) },
  { weight: 3, arbitrary: fc.constant('\r\n') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.array(piece, { maxLength: 40 }).map((parts) => ({ write: parts.join('') })) },
  { weight: 1, arbitrary: fc.constant<Step>({ write: 'many lines\r\n'.repeat(30) }) },
  { weight: 2, arbitrary: fc.record({ cols: fc.integer({ min: 2, max: 30 }), rows: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.constant<Step>('read') },
)

function take({ terminal, inner, serializer }: Emulator, next: Step): void {
  if (next === 'read') serializer.serialize()
  else if ('write' in next) inner.writeSync(Buffer.from(next.write))
  else terminal.resize(next.cols, next.rows)
}

/** Returns the entire state of a row, with attributes as their underlying numbers. */
function readContent({ _data, _combined, _extendedAttrs, length, isWrapped }: LiveRow) {
  return { data: [..._data], combined: { ..._combined }, extended: JSON.stringify(_extendedAttrs), length, isWrapped }
}

function readState({ terminal, inner, serializer }: Emulator) {
  const { lines, ybase, ydisp, x, y } = inner.buffers.normal
  return {
    rows: Array.from({ length: lines.length }, (_, index) => {
      const row = lines.get(index)
      return row && readContent(row)
    }),
    positions: [ybase, ydisp, x, y, terminal.buffer.active.cursorX, terminal.buffer.active.cursorY],
    drawn: serializer.serialize(),
  }
}

test('an emulator with packed rows matches one without for any input', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
      const [plain, packing] = [emulator(), emulator()]
      const rows = createPackedRows(() => packing.inner.buffers.normal)
      const marks = [plain, packing].map(({ terminal }) => terminal.registerMarker(0))
      for (const next of steps) {
        take(plain, next)
        if (next === 'read') rows.reading(() => take(packing, next))
        else take(packing, next)
        rows.pack()
        expect(marks[1]?.line).toBe(marks[0]?.line)
      }
      expect(rows.reading(() => readState(packing))).toEqual(readState(plain))
      // Permanently unpacked rows have the same content.
      expect(readState(packing)).toEqual(readState(plain))
      for (const { terminal } of [plain, packing]) terminal.dispose()
    }),
    { numRuns: 100 },
  )
})

const number32 = fc.oneof(
  fc.constantFrom(0, 0, 1 << 22, 2 << 22, 0xffff_ffff),
  fc.integer({ min: 0, max: 0xffff_ffff }),
)

test('any row unpacks to its original', () => {
  const packer = createRowPacker()
  fc.assert(
    fc.property(fc.array(fc.tuple(number32, number32, number32), { maxLength: 60 }), fc.boolean(), (cells, wrapped) => {
      const row = {
        _data: Uint32Array.from(cells.flat()),
        _combined: cells.length > 3 ? { 2: 'e\u0301' } : {},
        _extendedAttrs: cells.length > 30 ? { 7: { ext: 1 } } : {},
        length: cells.length,
        isWrapped: wrapped,
      }
      const second = {
        _data: new Uint32Array(90),
        _combined: { 1: 'x' },
        _extendedAttrs: {},
        length: 30,
        isWrapped: true,
      }
      packer.unpack(packer.pack(row), second)
      expect(second).toEqual(row)
    }),
  )
})

test('a packed row of plain text uses little more than its characters', () => {
  const { inner } = emulator()
  inner.writeSync(Buffer.from('plain text'))
  const row = inner.buffers.normal.lines.get(0)
  expect(row && createRowPacker().pack(row)).toHaveLength('plain text'.length + 3)
})

test('packs all rows above the screen and no rows on it', () => {
  const { terminal, inner } = emulator()
  const references: unknown[] = []
  const { lines } = inner.buffers.normal
  const rowAt = lines.get.bind(lines)
  const rows = createPackedRows(() => inner.buffers.normal)
  const look = () => {
    references.length = 0
    for (let index = 0; index < lines.length; index++) references.push(typeof rowAt(index) === 'string')
    return [references.filter(Boolean).length, references.indexOf(false)]
  }
  inner.writeSync(Buffer.from('text\r\n'.repeat(100)))
  rows.pack()
  expect(look()).toEqual([20, 20])
  terminal.resize(40, 10)
  rows.pack()
  expect(look()).toEqual([20 - 6, 20 - 6])
  terminal.resize(3, 4)
  rows.pack()
  expect(look()).toEqual([20, 20])
  terminal.dispose()
})
