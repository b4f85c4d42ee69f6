import xterm from '@xterm/headless'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultColors } from '#shared/contract/terminalColors.ts'
import { createTerminalMarks } from '#shared/terminalMarks.ts'
import { createScreen, type Screen } from './screen.ts'

type Watched = Screen & { answers: string[]; titles: string[]; bells: number; show(output: string | Uint8Array): void }

function createWatched(size: { cols: number; rows: number } = { cols: 20, rows: 5 }): Watched {
  const answers: string[] = []
  const titles: string[] = []
  const screen = createScreen({
    ...size,
    onAnswer: (data) => answers.push(data),
    onTitle: (title) => titles.push(title),
    onNotice: () => {},
    onBell: () => {
      watching.bells += 1
    },
  })
  const show = (output: string | Uint8Array): void => {
    const bytes = Buffer.from(output as Uint8Array)
    for (let offset = 0; offset < bytes.length; ) offset = screen.parse(bytes, offset)
  }
  const watching: Watched = { ...screen, answers, titles, bells: 0, show }
  return watching
}

const decoder = new TextDecoder()
const text = (target: Screen, full = false): string =>
  decoder.decode(target.reply({ kind: 'read', full, format: 'text' }).bytes)
const ansi = (target: Screen, full = false): string =>
  decoder.decode(target.reply({ kind: 'read', full, format: 'ansi' }).bytes)
const snapshot = (target: Screen, scrollback = 0): Uint8Array => target.reply({ kind: 'snapshot', scrollback }).bytes

test('joins rows and trims trailing blanks and empty rows', () => {
  const it = createWatched()
  it.show('one   \r\n\r\n  two\r\n\r\n')
  expect(text(it)).toBe('one\n\n  two')
  expect(it.reply({ kind: 'read', full: false, format: 'text' }).cursorPosition).toEqual({ row: 4, col: 0 })
  it.close()
})

test('the screen shows a long line in rows, the full text in one line', () => {
  const it = createWatched({ cols: 10, rows: 5 })
  it.show('abcdefghijklmnopqrstuvwxy z\r\nnext')
  expect(text(it)).toBe('abcdefghij\nklmnopqrst\nuvwxy z\nnext')
  expect(text(it, true)).toBe('abcdefghijklmnopqrstuvwxy z\nnext')
  it.close()
})

test('keeps a blank at a wrapped edge, not the spacer of a wide character', () => {
  const it = createWatched({ cols: 5, rows: 6 })
  it.show('abcd efgh\r\nabcd漢字')
  expect(text(it, true)).toBe('abcd efgh\nabcd漢字')
  it.close()
})

test('keeps wide, combined and emoji characters whole', () => {
  const it = createWatched({ cols: 40, rows: 5 })
  it.show('漢字 e\u0301 n\u0303 🚀 👍')
  expect(text(it)).toBe('漢字 e\u0301 n\u0303 🚀 👍')
  expect(it.reply({ kind: 'read', full: false, format: 'text' }).cursorPosition.col).toBe(14)
  it.close()
})

test('a full read includes scrollback up to the line limit', () => {
  const it = createWatched()
  it.show(Array.from({ length: 30 }, (_, n) => `line ${n}`).join('\r\n'))
  expect(text(it).split('\n')).toEqual(['line 25', 'line 26', 'line 27', 'line 28', 'line 29'])
  expect(text(it, true).split('\n')).toHaveLength(30)
  it.show(Array.from({ length: 20_000 }, (_, n) => `\r\nmore ${n}`).join(''))
  const lines = text(it, true).split('\n')
  expect(lines).toHaveLength(10_005)
  expect(lines.at(-1)).toBe('more 19999')
  expect(lines[0]).toBe(`more ${20_000 - 10_005}`)
  it.close()
})

test('reads the alternate screen while it is active and the normal one afterwards', () => {
  const it = createWatched()
  it.show('normal\r\n\x1b[?1049h\x1b[H\x1b[2Jeditor')
  expect(text(it)).toBe('editor')
  expect(text(it, true)).toBe('editor')
  for (const full of [false, true]) {
    expect(ansi(it, full)).toContain('editor')
    expect(ansi(it, full)).not.toContain('normal')
  }
  it.show('\x1b[?1049l')
  expect(text(it)).toBe('normal')
  it.close()
})

test('a full read joins normal scrollback and the alternate screen like tmux', () => {
  const it = createWatched()
  it.show('\x1b[31m1\r\n2\r\n3\r\n4\r\n\r\n6\r\n7\r\n8\r\n9\r\n\x1b[?1049h\x1b[H\x1b[2J\x1b[m\r\neditor')
  expect(text(it, true)).toBe('1\n2\n3\n4\n\n\neditor')
  expect(text(it)).toBe('\neditor')
  const drawn = createWatched({ cols: 20, rows: 10 })
  drawn.show(ansi(it, true))
  expect(text(drawn)).toBe('1\n2\n3\n4\n\n\neditor')
  expect(ansi(it, true)).toContain('\x1b[31m1')
  expect(ansi(it)).not.toContain('1\r\n')
  it.show('\x1b[?1049l')
  expect(text(it, true)).toBe('1\n2\n3\n4\n\n6\n7\n8\n9')
  it.close()
  drawn.close()
})

test('ANSI output has colors and only the requested lines', () => {
  const it = createWatched()
  it.show(`old\r\n${'x\r\n'.repeat(5)}\x1b[31mred\x1b[0m plain`)
  expect(ansi(it)).toContain('\x1b[31mred')
  expect(ansi(it)).not.toContain('old')
  expect(ansi(it, true)).toContain('old')
  it.close()
})

test('replies to program queries and reports titles', () => {
  const it = createWatched()
  it.show('ab\x1b[6n\x1b[c\x1b]2;my title\x07')
  expect(it.answers).toEqual(['\x1b[1;3R', '\x1b[?1;2c'])
  expect(it.titles).toEqual(['my title'])
  it.close()
})

test.each([
  ['colors and attributes', '\x1b[1;31mred\x1b[0m \x1b[4;38;2;1;2;3mrgb\x1b[0m'],
  ['a wrapped line and its edge', `${'w'.repeat(20)}`],
  ['the alternate screen', 'before\r\n\x1b[?1049h\x1b[H\x1b[2J~\r\n~\r\n\x1b[7mstatus\x1b[0m'],
  ['a scrolling region', 'a\r\nb\r\nc\x1b[2;4r\x1b[3;2H'],
  ['the origin mode in a region', 'a\r\nb\r\nc\x1b[2;4r\x1b[?6h\x1b[2;3H'],
  ['a hidden cursor and the mouse', '\x1b[?25l\x1b[?1002h\x1b[?1006h\x1b[?2004h\x1b[?1h\x1b='],
  ['line drawing', '\x1b(0lqqk'],
  ['no wrapping, inserting', '\x1b[?7l\x1b[4hab\x1b[1D'],
  ['half of a sequence', 'ok \x1b[3'],
  ['half of a title', 'ok \x1b]2;half'],
  ['half of a character', Buffer.from('ok 漢').subarray(0, 5)],
])('a snapshot restores %s so that later output renders the same', (_, output) => {
  const follow = '1mX\x07\r\nnext qqq\r\n\x1b[2;2Hinner\r\n\n\n\nend'
  const original = createWatched()
  original.show(output)
  const copy = createWatched()
  copy.show(snapshot(original, 100))
  for (const target of [original, copy]) target.show(follow)
  expect(text(copy, true)).toBe(text(original, true))
  expect(decoder.decode(snapshot(copy, 100))).toBe(decoder.decode(snapshot(original, 100)))
  expect(copy.titles).toEqual(original.titles)
  original.close()
  copy.close()
})

test('a snapshot of output split anywhere plus the rest yields the same screen', () => {
  const piece = fc.constantFrom(
    'plain text ',
    '漢字😀é',
    '\r\n',
    '\x1b[1;31m',
    '\x1b[0m',
    '\x1b[2;5H',
    '\x1b[K',
    '\x1b[?25l',
    '\x1b[?25h',
    '\x1b]0;title\x07',
    '\x1bM',
    '\x1b[3@',
    '\t',
    '\x1b[?1049h',
    '\x1b[?1049l',
  )
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 40 }), fc.nat(), (pieces, index) => {
      const bytes = Buffer.from(pieces.join(''))
      const cut = index % (bytes.length + 1)
      const original = createWatched()
      original.show(bytes.subarray(0, cut))
      const copy = createWatched()
      copy.show(snapshot(original, 10_000))
      for (const target of [original, copy]) target.show(bytes.subarray(cut))
      expect(text(copy)).toBe(text(original))
      expect(text(copy, true)).toBe(text(original, true))
      original.close()
      copy.close()
    }),
    { numRuns: 150, seed: 7 },
  )
})

test('reflows text after a resize', () => {
  const it = createWatched({ cols: 10, rows: 3 })
  it.show('abcdefghijKLM\r\n')
  it.resize(20, 3)
  expect(text(it)).toBe('abcdefghijKLM')
  it.close()
})

const search = (target: Screen, query: { text: string; regex?: boolean; caseSensitive?: boolean; limit?: number }) =>
  target.reply({ kind: 'search', query: { regex: false, caseSensitive: false, limit: 100, ...query } }).matches

test('a search finds matches on the screen and in scrollback with their positions', () => {
  const it = createWatched({ cols: 20, rows: 3 })
  it.show('an Error (1)\r\nfine\r\nerror error\r\nfine\r\nlast')
  expect(search(it, { text: 'ERROR' })?.matches).toEqual([
    { row: 0, text: 'an Error (1)', start: 3, end: 8 },
    { row: 2, text: 'error error', start: 0, end: 5 },
    { row: 2, text: 'error error', start: 6, end: 11 },
  ])
  expect(search(it, { text: 'Error', caseSensitive: true })?.matches).toHaveLength(1)
  expect(search(it, { text: 'r (1)' })?.matches).toEqual([{ row: 0, text: 'an Error (1)', start: 7, end: 12 }])
  expect(search(it, { text: '^err', regex: true })?.matches).toEqual([
    { row: 2, text: 'error error', start: 0, end: 3 },
  ])
  expect(search(it, { text: 'x*', regex: true })?.matches).toEqual([])
  it.close()
})

test('searches a wrapped line as a whole and reports where a match begins', () => {
  const it = createWatched({ cols: 10, rows: 5 })
  it.show('first\r\nabcdefghijklmnopqrstuvwxyz\r\nlast')
  expect(search(it, { text: 'jkl' })?.matches).toEqual([
    { row: 1, text: 'abcdefghijklmnopqrstuvwxyz', start: 9, end: 12 },
  ])
  expect(search(it, { text: 'klm' })?.matches).toMatchObject([{ row: 2 }])
  expect(search(it, { text: 'xyz' })?.matches).toMatchObject([{ row: 3 }])
  it.close()
})

test('reports the newest of too many matches and trims long lines around a match', () => {
  const it = createWatched({ cols: 80, rows: 5 })
  it.show(`${Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\r\n')}\r\n${'a'.repeat(900)}Z`)
  const newest = search(it, { text: 'line', limit: 2 })
  expect(newest).toMatchObject({ truncated: true, slow: false, matches: [{ text: 'line 28' }, { text: 'line 29' }] })
  const [far] = search(it, { text: 'z' })?.matches ?? []
  expect(far?.text.slice(far.start, far.end)).toBe('Z')
  expect(far?.text.length).toBeLessThan(200)
  it.close()
})

test('aborts a regular expression that backtracks endlessly', () => {
  const it = createWatched({ cols: 80, rows: 5 })
  it.show(`${'a'.repeat(60)}b`)
  expect(search(it, { text: '^(a+)+$', regex: true })).toEqual({ matches: [], truncated: false, slow: true })
  expect(search(it, { text: 'aab' })?.matches).toHaveLength(1)
  it.close()
})

test('a search delayed by a busy processor is not treated as endless', () => {
  const it = createWatched({ cols: 80, rows: 5 })
  it.show('an Error')
  let waits = 2
  const starved = {
    get text(): string {
      // Blocks longer than the time limit of a search without using the CPU.
      if (waits-- > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
      return 'Error'
    },
  }
  const query = { regex: false, caseSensitive: false, limit: 100 }
  expect(it.reply({ kind: 'search', query: Object.assign(starved, query) }).matches).toEqual({
    matches: [{ row: 0, text: 'an Error', start: 3, end: 8 }],
    truncated: false,
    slow: false,
  })
  it.close()
})

test('reports the bell', () => {
  const it = createWatched()
  it.show('one\u0007 two\u0007')
  expect(it.bells).toBe(2)
  it.close()
})

test('a snapshot keeps command starts and exits, even beneath a full-screen program', async () => {
  const it = createWatched({ cols: 30, rows: 6 })
  const command = (text: string) => `\x1b]133;A\x07$ \x1b]133;B\x07${text}\r\n\x1b]133;C\x07`
  it.show(`${command('false')}\x1b]133;D;1\x07${command('seq 9')}${'x\r\n'.repeat(9)}\x1b]133;D;0\x07${command('vim')}`)
  const readState = async () => {
    const viewer = new xterm.Terminal({ cols: 30, rows: 6, allowProposedApi: true })
    const marks = createTerminalMarks(viewer)
    const { bytes, marks: carried } = it.reply({ kind: 'snapshot', scrollback: 100 })
    const write = (part: Uint8Array) => new Promise<void>((parsed) => viewer.write(part, parsed))
    await write(bytes.subarray(0, carried?.at))
    marks.take(carried?.marks ?? [])
    await write(bytes.subarray(carried?.at))
    return marks.list().map(({ line, command, state, exitCode }) => ({ line, command, state, exitCode }))
  }
  const commands = [
    { line: 0, command: 'false', state: 'done', exitCode: 1 },
    { line: 1, command: 'seq 9', state: 'done', exitCode: 0 },
    { line: 11, command: 'vim', state: 'running', exitCode: null },
  ]
  expect(await readState()).toEqual(commands)
  it.show('\x1b[?1049h\x1b[2J\x1b[5;5Hfull')
  expect(await readState()).toEqual(commands)
  it.close()
})

test('a snapshot in the middle of a frame includes the frame start', () => {
  const it = createWatched()
  const frame = '\x1b[?2026h'
  const readSnapshot = () => decoder.decode(snapshot(it))
  it.show(`${frame}half`)
  expect(readSnapshot()).toContain(frame)
  it.show(' whole\x1b[?2026l')
  expect(readSnapshot()).not.toContain(frame)
  it.close()
})

test('replies to color queries with the colors of the viewer', () => {
  const it = createWatched()
  it.draws({ ...defaultColors, background: '#ffffff' })
  it.show('\x1b]11;?\x07')
  expect(it.answers).toEqual(['\x1b]11;rgb:ffff/ffff/ffff\x1b\\'])
  it.close()
})
