const bell = 0x07
const carriageReturn = 0x0d
const escapeByte = 0x1b
const lineFeed = 0x0a
/** Bell, backspace, tab, line feed, carriage return: they move the cursor or nothing. */
const harmless = new Set([bell, 0x08, 0x09, lineFeed, carriageReturn])
const [bracket, color, eraseInLine] = [0x5b, 0x6d, 0x4b]
const c1Lead = 0xc2
/** The highest bit of four bytes, as a signed integer like all results of bit operations. */
const topBits = 0x80808080 | 0
/** No real program sets more colors at once. */
const maxSequence = 256
const sampleBytes = 2 * 1024

export type PlainRun = {
  /** End of the plain text: the first other byte, or the end of the block. */
  until: number
  /** Bytes before this one leave no trace once the run is parsed; equal to the start if all of it matters. */
  visibleFrom: number
}

/**
 * Finds how much of a run of plain or colored text will have scrolled out for good when the run ends, so that it need
 * not be parsed: a flood would otherwise keep a processor busy for output that nobody can ever see. Without other
 * escape sequences nothing but the text and its colors changes, so after more line feeds than the terminal keeps
 * lines, whatever was before is gone. The cut is after a carriage return and line feed, where the column is known.
 *
 * Holds only when the parser is at rest, on the normal screen, with the whole screen as scrolling region, and
 * when the colors of what is left out (`findColors`) are parsed in its place.
 */
export function findPlainRun(bytes: Uint8Array, from: number, maxLines: number): PlainRun {
  if (!isWorthSearching(bytes, from, maxLines)) return { until: bytes.length, visibleFrom: from }
  const { until, lines } = findPlainPart(bytes, from)
  return { until, visibleFrom: lines > maxLines ? cutBefore({ bytes, from, until, maxLines }) : from }
}

export type PlainPart = {
  /** The first byte that is not plain text, or the end. */
  until: number
  /** Lines that end before it. */
  lines: number
  /** True when all from `until` on begins something plain whose end is yet to come. */
  unfinished: boolean
}

export function findPlainPart(bytes: Uint8Array, from: number): PlainPart {
  const words = toWords(bytes)
  const shift = bytes.byteOffset % 4
  let lines = 0
  let until = from
  while (until < bytes.length) {
    if ((until + shift) % 4 === 0) {
      const after = skipLetters(words, (until + shift) / 4) * 4 - shift
      if (after > until) {
        until = after
        continue
      }
    }
    const byte = bytes[until] ?? 0
    if (byte === lineFeed) lines++
    else if (byte === escapeByte) {
      const end = findSequenceEnd(bytes, until)
      if (end === 0) break
      until = end
      continue
    } else if (byte < 0x20 ? !harmless.has(byte) : byte === 0x7f || isC1Start(bytes, until)) break
    until++
  }
  return { until, lines, unfinished: isPlainStart(bytes, until) }
}

/** Four bytes at a time, as most of a flood is letters; those at the ends that fill no word are left out. */
function toWords({ buffer, byteOffset, length }: Uint8Array): Int32Array {
  const begin = byteOffset - (byteOffset % 4)
  return new Int32Array(buffer, begin, Math.floor((byteOffset + length - begin) / 4))
}

/** The first word from `from` on in which not every byte is from 0x20 to 0x7e. */
function skipLetters(words: Int32Array, from: number): number {
  let index = from
  for (; index < words.length; index++) {
    const word = words[index] ?? 0
    // Below 0x80 no sum carries into the next byte, and the highest bit of each tells which side of a limit it is on.
    if ((word & 0x80808080) !== 0) break
    if (((word + 0x60606060) & ~(word + 0x01010101) & 0x80808080) !== topBits) break
  }
  return index
}

function isPlainStart(bytes: Uint8Array, index: number): boolean {
  if (bytes[index] !== escapeByte) return index === bytes.length - 1 && bytes[index] === c1Lead
  return bytes.length - index <= maxSequence && findParametersEnd(bytes, index) === bytes.length
}

/** Returns the color sequences of a plain run that are in effect at its end: those after the last reset. */
export function findColors(bytes: Uint8Array, from: number, to: number): Uint8Array<ArrayBuffer> {
  const sequences: number[] = []
  for (
    let index = bytes.indexOf(escapeByte, from);
    index !== -1 && index < to;
    index = bytes.indexOf(escapeByte, index + 1)
  ) {
    const end = findSequenceEnd(bytes, index)
    if (bytes[end - 1] !== color) continue
    const resets = end - index === 3 || (end - index === 4 && bytes[index + 2] === 0x30)
    if (resets) sequences.length = 0
    for (let byte = index; byte < end; byte++) sequences.push(bytes[byte] ?? 0)
  }
  return new Uint8Array(sequences)
}

/** Returns the end of a sequence that sets colors or erases within its line; 0 for any other or an incomplete one. */
function findSequenceEnd(bytes: Uint8Array, index: number): number {
  if (bytes[index + 1] !== bracket) return 0
  const end = findParametersEnd(bytes, index)
  return bytes[end] === color || bytes[end] === eraseInLine ? end + 1 : 0
}

/** Behind the digits, colons and semicolons of a sequence, or where something else ended it before. */
function findParametersEnd(bytes: Uint8Array, index: number): number {
  if (bytes[index + 1] !== bracket) return index + 1
  let end = index + 2
  while ((bytes[end] ?? 0) >= 0x30 && (bytes[end] ?? 0) <= 0x3b) end++
  return end
}

/** U+0080 to U+009F: controls in UTF-8. */
function isC1Start(bytes: Uint8Array, index: number): boolean {
  return bytes[index] === c1Lead && (bytes[index + 1] ?? 0) < 0xa0
}

/** Estimates from the first lines whether there is enough. A full search costs a tenth of parsing. */
function isWorthSearching(bytes: Uint8Array, from: number, maxLines: number): boolean {
  const sample = bytes.subarray(from, from + sampleBytes)
  let lines = 0
  for (const byte of sample) if (byte === lineFeed) lines++
  return (lines * (bytes.length - from)) / sample.length > maxLines
}

/** Returns the start of the last `maxLines` lines of a run, or the start of the run if it has fewer. */
export function cutBefore(run: { bytes: Uint8Array; from: number; until: number; maxLines: number }): number {
  let lines = 0
  for (let index = run.until - 1; index > run.from; index--) {
    if (run.bytes[index] !== lineFeed) continue
    if (lines >= run.maxLines && run.bytes[index - 1] === carriageReturn) return index + 1
    lines++
  }
  return run.from
}
