const lineFeed = 0x0a
const carriageReturn = 0x0d
const sampleBytes = 2 * 1024
/** Bell, backspace, tab, line feed, carriage return: they move the cursor or nothing. */
const harmless = new Set([0x07, 0x08, 0x09, lineFeed, carriageReturn])

export type PlainRun = {
  /** Nothing more is to be found before this byte: the first that is not plain text, or the end. */
  until: number
  /** Bytes before this one leave no trace once the run is parsed; equal to the start when all of it matters. */
  visibleFrom: number
}

/**
 * Finds how much of a run of plain text will have scrolled out for good when the run ends, so that it need not be
 * parsed: `yes` would otherwise keep a processor busy for output that nobody can ever see. Without escape sequences
 * nothing but the text itself changes, so after more line feeds than the terminal keeps lines, whatever was before
 * is gone. The cut is after a carriage return and line feed, where the column is known.
 *
 * Holds only when the parser is at rest, on the normal screen, with the whole screen as scrolling region.
 */
export function plainRun(bytes: Uint8Array, from: number, keptLines: number): PlainRun {
  if (!worthSearching(bytes, from, keptLines)) return { until: bytes.length, visibleFrom: from }
  let lines = 0
  let until = from
  for (; until < bytes.length; until++) {
    const byte = bytes[until] ?? 0
    if (byte < 0x20) {
      if (!harmless.has(byte)) break
      if (byte === lineFeed) lines++
    } else if (byte === 0x7f || (byte === 0xc2 && (bytes[until + 1] ?? 0) < 0xa0)) {
      break // DEL, and the C1 controls, which are U+0080 to U+009F
    }
  }
  return { until, visibleFrom: lines > keptLines ? cutBefore({ bytes, from, until, keptLines }) : from }
}

/** Guesses from the first lines whether there can be enough: searching all of it costs a tenth of parsing it. */
function worthSearching(bytes: Uint8Array, from: number, keptLines: number): boolean {
  const sample = bytes.subarray(from, from + sampleBytes)
  let lines = 0
  for (const byte of sample) if (byte === lineFeed) lines++
  return (lines * (bytes.length - from)) / sample.length > keptLines
}

function cutBefore(run: { bytes: Uint8Array; from: number; until: number; keptLines: number }): number {
  let kept = 0
  for (let at = run.until - 1; at > run.from; at--) {
    if (run.bytes[at] !== lineFeed) continue
    if (kept >= run.keptLines && run.bytes[at - 1] === carriageReturn) return at + 1
    kept++
  }
  return run.from
}
