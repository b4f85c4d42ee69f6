const bell = 0x07
const carriageReturn = 0x0d
const escapeByte = 0x1b
const lineFeed = 0x0a
/** Bell, backspace, tab, line feed and carriage return, which at most move the cursor. */
const harmless = new Set([bell, 0x08, 0x09, lineFeed, carriageReturn])
const [bracket, color, eraseInLine] = [0x5b, 0x6d, 0x4b]
const c1Lead = 0xc2
/** Highest bit of four bytes, as a signed integer like all results of bitwise operations. */
const topBits = 0x80808080 | 0
/** Maximum length of a color sequence. Real programs use shorter sequences. */
const maxSequence = 256
const sampleBytes = 2 * 1024

export type PlainRun = {
  /** End of the plain text: the first other byte, or the end of the block. */
  until: number
  /** Bytes before this offset have no visible effect once the run is parsed. Equal to the start if all bytes matter. */
  visibleFrom: number
}

/**
 * Finds the part of a run of plain or colored text that scrolls out completely by the end of the run. That part need
 * not be parsed; otherwise a flood would occupy a CPU for output that can never be displayed. Without other escape
 * sequences only text and colors change, so after more line feeds than the terminal stores lines, all earlier content
 * has scrolled out. The cut follows a carriage return and line feed, where the column is known. Requires that the
 * parser is at rest, on the normal screen, with the whole screen as scrolling region, and that the colors of the
 * omitted part (`findColors`) are parsed in its place.
 */
export function findPlainRun(bytes: Uint8Array, from: number, maxLines: number): PlainRun {
  if (!isWorthSearching(bytes, from, maxLines)) return { until: bytes.length, visibleFrom: from }
  const { until, lines } = findPlainPart(bytes, from)
  return { until, visibleFrom: lines > maxLines ? findLastLines({ bytes, from, until, maxLines }) : from }
}

export type PlainPart = {
  /** Offset of the first byte that is not plain text, or the end. */
  until: number
  /** Number of lines that end before it. */
  lines: number
  /** Whether the bytes from `until` are the beginning of an incomplete plain sequence. */
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

/**
 * Converts bytes to words for reading four bytes at a time, because most of a flood is letters. Omits bytes at the ends
 * that do not fill a word.
 */
function toWords({ buffer, byteOffset, length }: Uint8Array): Int32Array {
  const begin = byteOffset - (byteOffset % 4)
  return new Int32Array(buffer, begin, Math.floor((byteOffset + length - begin) / 4))
}

/** Returns the index of the first word from `from` that contains a byte outside 0x20 to 0x7e. */
function skipLetters(words: Int32Array, from: number): number {
  let index = from
  for (; index < words.length; index++) {
    const word = words[index] ?? 0
    // Below 0x80 no sum carries into the next byte. The highest bit of each sum indicates whether the byte exceeds the
    // limit.
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

/**
 * Returns the end of a sequence that sets colors or erases within its line, or 0 for any other or incomplete sequence.
 */
function findSequenceEnd(bytes: Uint8Array, index: number): number {
  if (bytes[index + 1] !== bracket) return 0
  const end = findParametersEnd(bytes, index)
  return bytes[end] === color || bytes[end] === eraseInLine ? end + 1 : 0
}

/** Returns the end of the digits, colons and semicolons of a sequence, or of its valid beginning. */
function findParametersEnd(bytes: Uint8Array, index: number): number {
  if (bytes[index + 1] !== bracket) return index + 1
  let end = index + 2
  while ((bytes[end] ?? 0) >= 0x30 && (bytes[end] ?? 0) <= 0x3b) end++
  return end
}

/** Whether a C1 control begins: U+0080 to U+009F in UTF-8. */
function isC1Start(bytes: Uint8Array, index: number): boolean {
  return bytes[index] === c1Lead && (bytes[index + 1] ?? 0) < 0xa0
}

/** Estimates from the first lines whether a search is worthwhile. A full search costs a tenth of parsing. */
function isWorthSearching(bytes: Uint8Array, from: number, maxLines: number): boolean {
  const sample = bytes.subarray(from, from + sampleBytes)
  let lines = 0
  for (const byte of sample) if (byte === lineFeed) lines++
  return (lines * (bytes.length - from)) / sample.length > maxLines
}

/** Returns the start of the last `maxLines` lines of a run, or the start of the run if it has fewer. */
export function findLastLines(run: { bytes: Uint8Array; from: number; until: number; maxLines: number }): number {
  let lines = 0
  for (let index = run.until - 1; index > run.from; index--) {
    if (run.bytes[index] !== lineFeed) continue
    if (lines >= run.maxLines && run.bytes[index - 1] === carriageReturn) return index + 1
    lines++
  }
  return run.from
}
