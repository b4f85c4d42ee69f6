import { createRowPacker, getPackedBytes, type PackedRow, type Row } from './rowPacker.ts'

export type LiveRow = Row & { clone(): LiveRow }

/** Row list of the emulator. Only `get` and `recycle` return rows that are used afterwards. */
export type RowList = {
  readonly length: number
  get(index: number): LiveRow | undefined
  set(index: number, row: LiveRow | PackedRow): void
  /** Reuses the oldest row as the newest. The caller overwrites it. */
  recycle(): LiveRow
}

/** Normal screen of the emulator, with `ybase` rows of scrollback above it. */
export type RowBuffer = { readonly lines: RowList; readonly ybase: number }

export type PackedRows = {
  /**
   * Packs rows that have scrolled out. Must be called only while the emulator is idle, because it holds references to
   * rows while parsing.
   */
  pack(): void
  /** Reads rows without unpacking them permanently. `work` may hold a row until it reads the 16th row after it. */
  reading<T>(work: () => T): T
  /** Approximate memory of the packed rows, in bytes. */
  weigh(): number
}

type Slot = LiveRow | PackedRow | undefined

/** Maximum number of unpacked rows retained for reuse: as many as one chunk of output adds. */
const maxSpares = 128
/** Cache size in rows. Readers access a row and its neighbors several times, then move on. */
const rowCacheSize = 16

/**
 * Stores scrollback rows packed, transparently to the emulator: rows are unpacked on access and packed again later.
 * After each `pack`, all rows above the screen are packed and all rows on it are unpacked.
 */
export function createPackedRows(buffer: () => RowBuffer): PackedRows {
  const packer = createRowPacker()
  const spares: LiveRow[] = []
  let opened: { list: RowList; getRow: (index: number) => Slot } | undefined
  /** Whether packed and unpacked rows may be mixed. */
  let untidy = true
  let readRows: { index: number; row: LiveRow }[] | undefined

  const unpackInto = (packed: PackedRow, row: LiveRow): LiveRow => {
    packer.unpack(packed, row)
    return row
  }

  const readRow = (
    index: number,
    packed: PackedRow,
    createRow: () => LiveRow,
    rows: { index: number; row: LiveRow }[],
  ) => {
    const cached = rows[index % rowCacheSize]
    if (cached?.index === index) return cached.row
    const row = unpackInto(packed, cached?.row ?? createRow())
    rows[index % rowCacheSize] = { index, row }
    return row
  }

  const open = (list: RowList, model: LiveRow): ((index: number) => Slot) => {
    const getRow: (index: number) => Slot = list.get.bind(list)
    const recycle: () => Slot = list.recycle.bind(list)
    const createRow = (): LiveRow => model.clone()
    list.get = (index) => {
      const row = getRow(index)
      if (row === undefined || isLive(row)) return row
      if (readRows) return readRow(index, row, createRow, readRows)
      const live = unpackInto(row, spares.pop() ?? createRow())
      list.set(index, live)
      untidy = true
      return live
    }
    list.recycle = () => {
      const row = recycle()
      if (row !== undefined && isLive(row)) return row
      const live = spares.pop() ?? createRow()
      list.set(list.length - 1, live)
      return live
    }
    return getRow
  }

  const keep = (list: RowList, index: number, row: LiveRow): void => {
    list.set(index, packer.pack(row))
    if (spares.length < maxSpares) spares.push(row)
  }

  return {
    pack() {
      const { lines: list, ybase } = buffer()
      if (opened?.list !== list) {
        // A reset creates a new list without packed rows.
        const model = list.get(ybase)?.clone()
        if (!model) return
        opened = { list, getRow: open(list, model) }
        untidy = true
      }
      const { getRow } = opened
      // After the screen has grown taller, it begins with rows from the scrollback.
      untidy ||= !isLive(getRow(ybase))
      for (let index = ybase - 1; index >= 0; index--) {
        const row = getRow(index)
        if (isLive(row)) keep(list, index, row)
        else if (!untidy) break
      }
      if (untidy) for (let index = ybase; index < list.length; index++) list.get(index)
      untidy = false
    },
    reading(work) {
      readRows = []
      try {
        return work()
      } finally {
        readRows = undefined
      }
    },
    weigh() {
      let bytes = 0
      for (let index = 0; opened && index < buffer().ybase; index += 1) {
        const row = opened.getRow(index)
        if (row !== undefined && !isLive(row)) bytes += getPackedBytes(row)
      }
      return bytes
    },
  }
}

function isLive(row: Slot): row is LiveRow {
  return typeof row === 'object' && '_data' in row
}
