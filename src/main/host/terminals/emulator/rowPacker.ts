/** Row of the emulator: for each cell its content, foreground and background as unsigned 32-bit integers. */
export type Row = {
  _data: Uint32Array
  /** Text of multiple code points and extended attributes that do not fit into a cell, by column. */
  _combined: Readonly<Record<number, string>>
  _extendedAttrs: Readonly<Record<number, object | undefined>>
  length: number
  isWrapped: boolean
}

/**
 * Packed row, with its cells as a string, the most compact form in V8. `combined`: texts, each preceded by its column
 * and its length.
 */
export type PackedRow = string | { cells: string; combined: string; extended: Row['_extendedAttrs'] }

/** Approximate size in V8 of an attributes object and of the smallest string, in bytes. */
const [extendedBytes, minBytes] = [64, 24]

/** Approximate memory of a packed row, in bytes. */
export function getPackedBytes(packed: PackedRow): number {
  if (typeof packed === 'string') return minBytes + packed.length
  const extended = Object.keys(packed.extended).length
  return 3 * minBytes + packed.cells.length + 2 * packed.combined.length + extendedBytes * extended
}

export type RowPacker = {
  pack(row: Row): PackedRow
  /** Overwrites `row` with the packed contents. */
  unpack(packed: PackedRow, row: Row): void
}

const cellNumbers = 3
const widthShift = 22
const codePointMask = 0x1fffff
const narrow = 1 << widthShift
const wide = 2 << widthShift
/**
 * Kinds of runs: characters of one column, characters of two columns (each followed by an empty cell), or raw cell
 * contents.
 */
const runs = { narrow: 0, wide: 1, raw: 2 } as const
type Kind = (typeof runs)[keyof typeof runs]
/** Header of a run: 13 bits for the length, one for colors, two for the kind. */
const [countShift, coloredBit, kindMask, headBytes, maxOfRun] = [3, 4, 3, 2, 0x1fff]
/** Exceeds the maximum length of a cell's text, see `boundWidths`. */
const maxTextUnits = 64
/** Worst case, in which every cell is a separate run. */
const [maxBytesOfCell, maxBytesOfRow] = [headBytes + 3 * 5, 5]

/**
 * Creates a packer that stores rows in about a tenth of the emulator's memory, which is 12 bytes per cell, used or not.
 * Omits trailing blanks, groups cells with equal attributes, and encodes numbers with variable length.
 */
export function createRowPacker(): RowPacker {
  let bytes = Buffer.alloc(0)

  return {
    pack({ _data: data, _combined: combined, _extendedAttrs: extended, length, isWrapped }) {
      const maxLength = length * maxBytesOfCell + maxBytesOfRow
      if (bytes.length < maxLength) bytes = Buffer.allocUnsafeSlow(maxLength)
      const cells = bytes.toString('latin1', 0, packCells(data, bytes, (length << 1) | (isWrapped ? 1 : 0)))
      return isEmpty(combined) && isEmpty(extended) ? cells : { cells, combined: packTexts(combined), extended }
    },
    unpack(packed, row) {
      const cells = typeof packed === 'string' ? packed : packed.cells
      if (bytes.length < cells.length) bytes = Buffer.allocUnsafeSlow(cells.length)
      const end = bytes.write(cells, 0, 'latin1')
      row._combined = typeof packed === 'string' ? {} : unpackTexts(packed.combined)
      row._extendedAttrs = typeof packed === 'string' ? {} : packed.extended
      const first = readNumber(bytes, 0)
      row.length = first >>> 1
      row.isWrapped = (first & 1) === 1
      if (row._data.length !== row.length * cellNumbers) row._data = new Uint32Array(row.length * cellNumbers)
      unpackCells({ bytes, from: countNumberBytes(first), end }, row._data)
    },
  }
}

/** Flattens strings that the emulator built character by character, because V8 would otherwise retain every part. */
function packTexts(texts: Row['_combined']): string {
  const parts: string[] = []
  for (const column in texts) {
    const text = (texts[column] ?? '').slice(0, maxTextUnits)
    parts.push(String.fromCharCode(Number(column), text.length), text)
  }
  return parts.join('')
}

function unpackTexts(packed: string): Record<number, string> {
  const texts: Record<number, string> = {}
  for (let offset = 0; offset < packed.length; ) {
    const end = offset + 2 + packed.charCodeAt(offset + 1)
    texts[packed.charCodeAt(offset)] = packed.slice(offset + 2, end)
    offset = end
  }
  return texts
}

/** @returns the number of bytes written */
function packCells(data: Uint32Array, bytes: Uint8Array, first: number): number {
  const used = countUsed(data)
  let end = writeNumber(bytes, 0, first)
  for (let index = 0; index < used; ) {
    const fg = data[index + 1] ?? 0
    const bg = data[index + 2] ?? 0
    const kind = readKind(data, index, used)
    const colored = fg !== 0 || bg !== 0
    const step = kind === runs.wide ? 2 * cellNumbers : cellNumbers
    const mask = kind === runs.raw ? -1 : codePointMask
    const head = end
    end += headBytes
    if (colored) end = writeNumber(bytes, writeNumber(bytes, end, fg), bg)
    let count = 0
    do {
      const value = ((data[index] ?? 0) & mask) >>> 0
      if (value < 0x80) bytes[end++] = value
      else end = writeNumber(bytes, end, value)
      index += step
      count++
    } while (
      index < used &&
      count < maxOfRun &&
      data[index + 1] === fg &&
      data[index + 2] === bg &&
      readKind(data, index, used) === kind
    )
    const begin = (count << countShift) | (colored ? coloredBit : 0) | kind
    bytes[head] = begin >>> 8
    bytes[head + 1] = begin
  }
  return end
}

function unpackCells(packed: { bytes: Uint8Array; from: number; end: number }, data: Uint32Array): void {
  const { bytes, end } = packed
  let offset = 0
  for (let from = packed.from; from < end; ) {
    const head = ((bytes[from] ?? 0) << 8) | (bytes[from + 1] ?? 0)
    from += headBytes
    const kind = head & kindMask
    const form = kind === runs.narrow ? narrow : kind === runs.wide ? wide : 0
    const colored = (head & coloredBit) !== 0
    const fg = colored ? readNumber(bytes, from) : 0
    if (colored) from += countNumberBytes(fg)
    const bg = colored ? readNumber(bytes, from) : 0
    if (colored) from += countNumberBytes(bg)
    for (let count = head >>> countShift; count > 0; count--) {
      const value = readNumber(bytes, from)
      from += value < 0x80 ? 1 : countNumberBytes(value)
      data[offset++] = value | form
      data[offset++] = fg
      data[offset++] = bg
      if (kind !== runs.wide) continue
      data[offset++] = 0
      data[offset++] = fg
      data[offset++] = bg
    }
  }
  while (offset < data.length) {
    data[offset++] = narrow
    data[offset++] = 0
    data[offset++] = 0
  }
}

/** Counts the cells of a row up to the last non-blank one. */
function countUsed(data: Uint32Array): number {
  let used = data.length
  while (used > 0 && data[used - 3] === narrow && data[used - 2] === 0 && data[used - 1] === 0) used -= cellNumbers
  return used
}

function readKind(data: Uint32Array, index: number, used: number): Kind {
  const form = (data[index] ?? 0) & ~codePointMask
  if (form === narrow) return runs.narrow
  const next = index + cellNumbers
  const paired =
    next < used && data[next] === 0 && data[next + 1] === data[index + 1] && data[next + 2] === data[index + 2]
  return form === wide && paired ? runs.wide : runs.raw
}

/**
 * Writes a variable-length integer: seven bits per byte, lowest first. The eighth bit indicates that more bytes follow.
 * @returns the end offset
 */
function writeNumber(bytes: Uint8Array, offset: number, value: number): number {
  let end = offset
  let rest = value >>> 0
  for (; rest > 0x7f; rest >>>= 7) bytes[end++] = (rest & 0x7f) | 0x80
  bytes[end++] = rest
  return end
}

function readNumber(bytes: Uint8Array, offset: number): number {
  const first = bytes[offset] ?? 0
  if (first < 0x80) return first
  let value = first & 0x7f
  for (let shift = 7, next = offset + 1; ; shift += 7, next++) {
    const byte = bytes[next] ?? 0
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return value >>> 0
  }
}

function countNumberBytes(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}
