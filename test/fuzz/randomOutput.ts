/** Numbers in [0, 1), deterministic for a seed. */
export type Random = () => number

/** mulberry32, which has 32 bits of state. @see https://en.wikipedia.org/wiki/Linear_congruential_generator */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const encoder = new TextEncoder()
const numbers = [
  0,
  1,
  2,
  3,
  4,
  5,
  7,
  8,
  23,
  24,
  25,
  80,
  132,
  999,
  1_000,
  1_001,
  65_535,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 63,
]
const modes = [
  1, 3, 4, 5, 6, 7, 9, 12, 25, 45, 47, 66, 1000, 1002, 1003, 1004, 1006, 1047, 1048, 1049, 2004, 2026, 9001,
]
const costlyFinals = 'STLMb@PXIZJKHfrABCDEFGdaenctghlmqupsxy`'
const oscCodes = [0, 1, 2, 4, 7, 8, 9, 10, 11, 12, 52, 104, 110, 111, 112, 133, 633, 777, 1337, 7133, 2 ** 40]
const texts = [
  'a',
  ' ',
  'flood of text ',
  'ü',
  '漢',
  '😀',
  'e\u0301',
  '\u0301',
  '\u200d',
  '\u{e0100}',
  '\r\n',
  '\n',
  '\t',
  '\b',
  '\x07',
]
const controls = [
  '\x0e',
  '\x0f',
  '\x0b',
  '\x0c',
  '\x18',
  '\x1a',
  '\x7f',
  '\x00',
  '\u0084',
  '\u0085',
  '\u009b',
  '\u009d',
  '\u0090',
]
const endings = ['\x07', '\x1b\\', '\u009c', '\x18', '']

/** Yields endless hostile program output, in chunks that are split at arbitrary bytes. */
export function* randomOutput(random: Random): Generator<Uint8Array<ArrayBuffer>, never> {
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(values: ArrayLike<T>): T => values[below(values.length)] as T
  const some = (max: number, make: () => string) => Array.from({ length: below(max + 1) }, make).join('')
  const number = () => (random() < 0.2 ? '' : `${random() < 0.3 ? pick(modes) : pick(numbers)}`)
  const parameters = () => some(random() < 0.05 ? 400 : 4, () => `${number()}${pick([';', ';', ':', ''])}`) + number()
  const final = () => (random() < 0.7 ? pick(costlyFinals) : String.fromCharCode(0x40 + below(0x3f)))
  const csi = () =>
    `\x1b[${pick(['', '', '', '?', '>', '=', '<'])}${parameters()}${pick(['', '', '', ' ', '!', '"', '$', "'", '*'])}${final()}`
  const payload = () => {
    const part = pick([
      'x',
      ';',
      '?',
      '4;?;',
      'http://x.example/',
      ':',
      'QUFB',
      '/',
      '%',
      '漢',
      'A;B;C;D;',
      '[',
      '"',
      '\\',
    ])
    return part.repeat(random() < 0.02 ? below(2_000_000 / part.length) : below(40))
  }
  const osc = () =>
    `\x1b]${pick(oscCodes)}${pick([';', ';', ''])}${payload()}${pick(['', ';', ';?'])}${payload()}${pick(endings)}`
  const string = () => `\x1b${pick(['P', 'P$q', 'P+q', 'Pq', 'X', '^', '_'])}${payload()}${pick(endings)}`
  const randomEscape = () => `\x1b${pick(['', '#', '(', ')', '%', '$', ' '])}${String.fromCharCode(0x30 + below(0x4f))}`
  const mark = () => `\x1b]133;${pick(['A', 'B', 'C', 'D', 'D;1', 'E;x'])}\x07`
  const garbage = () => Uint8Array.from({ length: below(64) }, () => below(256))
  const kinds = [csi, csi, csi, csi, osc, string, randomEscape, mark, () => pick(texts), () => pick(controls)]

  const burst = (): Uint8Array => {
    if (random() < 0.1) return garbage()
    const sequence = pick(kinds)()
    // A cheap sequence may be expensive when repeated.
    const repeated = random() < 0.15 ? Math.ceil(below(48_000) / sequence.length) : 1 + below(3)
    return encoder.encode(sequence.repeat(Math.max(1, repeated)))
  }

  for (let pending = new Uint8Array(0); ; ) {
    const size = 1 + below(random() < 0.7 ? 200 : 64 * 1024)
    while (pending.length < size) pending = concatBytes(pending, burst())
    yield pending.slice(0, size)
    pending = pending.slice(size)
  }
}

function concatBytes(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
