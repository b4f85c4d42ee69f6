import { type CharacterWidths, createCharacterWidths } from './characterWidths.ts'

/**
 * xterm.js 6.0 takes counts as programs write them: `CSI 2147483647 S` scrolls two thousand million times, and an OSC may have
 * ten million characters. With these bounds, which the host's screens and the window share so that both show the same,
 * no sequence costs more than the screen is large. `docs/upstream/xterm-counts.md` names the places in its source.
 */

/** The inner parts that are bounded; the exact version is pinned, and `terminalBounds.test.ts` fails when a release moves one. */
type Core = {
  readonly cols: number
  readonly rows: number
  readonly buffers: { readonly normal: { readonly lines: Lines; ybase: number; ydisp: number; readonly y: number } }
  readonly options: { readonly scrollback?: number }
  resize(cols: number, rows: number): void
  readonly buffer: {
    readonly markers: { readonly length: number }
    readonly lines: Lines
    readonly ybase: number
    readonly y: number
    readonly scrollTop: number
    readonly scrollBottom: number
  }
  readonly _oscLinkService: LinkService
  readonly _inputHandler: Readonly<Record<LineMove, (params: Params) => void>> & {
    readonly _parser: {
      readonly precedingJoinState: number
      readonly _oscParser: StringParser & { start(): void; readonly _id: number }
      readonly _dcsParser: StringParser & { hook(identifier: number, params: unknown): void }
    }
  }
  registerCsiHandler(id: { final: string }, handler: (params: Params) => boolean): unknown
}
/** Borrowed from the parser: what is written here is what the terminal's own handler gets. */
type Params = { readonly params: Int32Array }
type Line = { clone(): Line; getTrimmedLength(): number; readonly isWrapped: boolean }
type Lines = {
  readonly length: number
  get(index: number): Line | undefined
  splice(from: number, removed: number, ...added: Line[]): void
  trimStart(count: number): void
}
type LineMove = 'scrollUp' | 'scrollDown' | 'insertLines' | 'deleteLines'
type StringParser = { put(data: Uint32Array, start: number, end: number): void; reset(): void }
type LinkService = {
  readonly _dataByLinkId: ReadonlyMap<number, { readonly lines: readonly { dispose(): void }[] }>
  registerLink(data: unknown): number
  addLineToLink(linkId: number, line: number): void
}

/** Lengths of OSC sequences: of clipboard requests, and of others. */
const oscUnits = { clipboard: 1024 * 1024 + 16, normal: 16 * 1024 }
const dcsUnits = 16 * 1024
const clipboardCode = 52
/** Number of links, newest first: each costs time with every line that scrolls. */
const linkLimits = { max: 4_096, retained: 3_072 }

/** Holds a terminal of xterm.js, with a window or headless, to what its screen can show. */
export function boundTerminal(terminal: object): void {
  const core = (terminal as { _core: Core })._core
  boundCounts(core)
  boundLineMoves(core)
  boundStrings(core)
  boundLinks(core._oscLinkService, core)
  boundReflow(core)
}

/** More columns than the screen has do what as many as it has do. */
function boundCounts(core: Core): void {
  const columns = () => core.cols
  // A repeated character may be made of several code points, each of which is drawn again.
  const cells = () =>
    Math.ceil((core.rows * core.cols) / (countJoins(core._inputHandler._parser.precedingJoinState) + 1))
  const mosts = { I: columns, Z: columns, '@': columns, P: columns, X: columns }
  for (const [final, max] of Object.entries({ ...mosts, b: cells })) {
    core.registerCsiHandler({ final }, ({ params }) => {
      params[0] = Math.min(params[0] ?? 0, max())
      return false
    })
  }
}

/** One by one each line would move all others of the screen. */
const fewLines = 8

/** Lines scroll, or are inserted and deleted, all at once, and no more of them than the scrolling region has. */
function boundLineMoves(core: Core): void {
  const moves = { S: 'scrollUp', T: 'scrollDown', L: 'insertLines', M: 'deleteLines' } as const
  for (const [final, move] of Object.entries(moves)) {
    core.registerCsiHandler({ final }, ({ params }) => {
      params[0] = Math.min(params[0] ?? 0, core.rows)
      if (params[0] <= fewLines) return false
      moveLines(core, move, params[0])
      return true
    })
  }
}

/** The terminal moves one line itself, which tells what an empty one looks like; the others follow at once. */
function moveLines(core: Core, move: LineMove, count: number): void {
  core._inputHandler[move]({ params: Int32Array.of(1) })
  const { lines, ybase, y, scrollTop, scrollBottom } = core.buffer
  const isAtCursor = move === 'insertLines' || move === 'deleteLines'
  if (isAtCursor && (y < scrollTop || y > scrollBottom)) return
  const first = ybase + (isAtCursor ? y : scrollTop)
  const last = ybase + scrollBottom
  const others = Math.min(count, last - first + 1) - 1
  if (others <= 0) return
  const isUp = move === 'scrollUp' || move === 'deleteLines'
  const empty = lines.get(isUp ? last : first)
  if (!empty) return
  const added = Array.from({ length: others }, () => empty.clone())
  lines.splice(isUp ? first : last - others + 1, others)
  lines.splice(isUp ? last - others + 1 : first, 0, ...added)
}

/** A string that is too long is dropped as if it had been called off; all until its end is ignored. */
function boundStrings({ _inputHandler: { _parser } }: Core): void {
  const { _oscParser: osc, _dcsParser: dcs } = _parser
  const [oscStart, dcsHook] = [osc.start.bind(osc), dcs.hook.bind(dcs)]
  const begunOsc = boundPuts(osc, () => (osc._id === clipboardCode ? oscUnits.clipboard : oscUnits.normal))
  const begunDcs = boundPuts(dcs, () => dcsUnits)
  osc.start = () => {
    begunOsc()
    oscStart()
  }
  dcs.hook = (identifier, params) => {
    begunDcs()
    dcsHook(identifier, params)
  }
}

/** @returns what to call when another string begins */
function boundPuts(parser: StringParser, getMax: () => number): () => void {
  const put = parser.put.bind(parser)
  let units = 0
  parser.put = (data, start, end) => {
    if (units > getMax()) return
    units += end - start
    put(data, start, end)
    if (units > getMax()) parser.reset()
  }
  return () => {
    units = 0
  }
}

/** The oldest links give way: their text stays, and leads nowhere. */
function boundLinks(links: LinkService, core: Core): void {
  const registerLink = links.registerLink.bind(links)
  const addLineToLink = links.addLineToLink.bind(links)

  const isFull = (max: number): boolean => core.buffer.markers.length > max || links._dataByLinkId.size > max
  const evictLinks = (): void => {
    if (!isFull(linkLimits.max)) return
    for (const { lines } of [...links._dataByLinkId.values()]) {
      for (const line of [...lines]) line.dispose()
      if (!isFull(linkLimits.retained)) return
    }
  }

  links.registerLink = (data) => {
    evictLinks()
    return registerLink(data)
  }
  links.addLineToLink = (linkId, line) => {
    evictLinks()
    addLineToLink(linkId, line)
  }
}

/**
 * When a terminal becomes narrower its long lines take more rows, and xterm.js makes all of them before it drops those that
 * are too many: a scrollback of wide lines becomes millions of rows. What would be dropped goes before.
 */
function boundReflow(core: Core): void {
  const resize = core.resize.bind(core)
  core.resize = (cols, rows) => {
    if (cols < core.cols) dropWhatWillNotFit(core, Math.max(cols, 2), rows)
    resize(cols, rows)
  }
}

function dropWhatWillNotFit({ buffers: { normal }, options, rows: present }: Core, cols: number, rows: number): void {
  const maxRows = (options.scrollback ?? 0) + 2 * Math.max(present, rows)
  const cursorLine = findLine(normal.lines, normal.ybase + normal.y)
  let needed = 0
  for (let index = normal.lines.length - 1; index >= 0; index--) {
    const isCursorLine = index >= cursorLine.first && index <= cursorLine.last
    needed += isCursorLine ? 1 : Math.max(1, Math.ceil((normal.lines.get(index)?.getTrimmedLength() ?? 0) / cols))
    if (needed <= maxRows) continue
    const dropped = Math.min(index + 1, normal.ybase)
    if (dropped === 0) return
    normal.lines.trimStart(dropped)
    normal.ybase -= dropped
    normal.ydisp = Math.max(0, normal.ydisp - dropped)
    return
  }
}

/** The rows of the line in which the cursor stands: it stays as it is. */
function findLine(lines: Lines, row: number): { first: number; last: number } {
  let [first, last] = [row, row]
  while (first > 0 && lines.get(first)?.isWrapped) first--
  while (last + 1 < lines.length && lines.get(last + 1)?.isWrapped) last++
  return { first, last }
}

/** Makes characters as wide as programs in sandboxes count them, with bounds. */
export function boundWidths(terminal: {
  readonly unicode: { register(widths: CharacterWidths): void; activeVersion: string }
}): void {
  const bounded = createBoundedWidths(createCharacterWidths())
  terminal.unicode.register(bounded)
  terminal.unicode.activeVersion = bounded.version
}

const maxJoined = 15
const [joinBit, stateShift, ownCell] = [1, 3, 1 << 1]
const belowState = (1 << stateShift) - 1

/** Bounds the combining marks in one cell; further ones get a cell of their own. */
function createBoundedWidths(widths: CharacterWidths): CharacterWidths {
  return {
    version: `${widths.version}-bounded`,
    wcwidth: (codePoint) => widths.wcwidth(codePoint),
    charProperties(codePoint, preceding) {
      if (codePoint >= 0x20 && codePoint < 0x7f) return ownCell
      const properties = widths.charProperties(codePoint, preceding & belowState)
      if ((properties & joinBit) === 0) return properties
      const joins = countJoins(preceding) + 1
      return joins > maxJoined ? ownCell : (properties & belowState) | (joins << stateShift)
    },
  }
}

function countJoins(properties: number): number {
  return properties >> stateShift
}

/**
 * Bytes of output that may be parsed between two readings of the clock. The most expensive two-byte sequences redraw the
 * whole screen, so a chunk for a large screen is small.
 */
export function computePieceBytes({ cols, rows }: { cols: number; rows: number }): number {
  return Math.min(maxPiece, Math.max(minPiece, Math.floor(cellBytes / (cols * rows))))
}

const [maxPiece, minPiece] = [2 * 1024, 64]
const cellBytes = 32 * 1024 * 1024
