import { type CharacterWidths, createCharacterWidths } from './characterWidths.ts'

/**
 * xterm.js 6.0 does not limit the parameters of sequences: `CSI 2147483647 S` scrolls two billion times, and an OSC may
 * have ten million characters. These limits bound the cost of a sequence by the size of the screen. The host and the
 * window share them, so that both display the same. `docs/upstream/xterm-counts.md` lists the locations in its source.
 */

/**
 * Internals of xterm.js that are bounded. The exact version is pinned, and `terminalBounds.test.ts` fails if a release
 * changes them.
 */
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
/** Parameters owned by the parser. Changes are visible to the handler of the terminal. */
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

/** Maximum length of OSC sequences: clipboard requests, and others. */
const oscUnits = { clipboard: 1024 * 1024 + 16, normal: 16 * 1024 }
const dcsUnits = 16 * 1024
const clipboardCode = 52
/** Maximum number of links. The newest are retained. Each link adds cost to every scrolled line. */
const linkLimits = { max: 4_096, retained: 3_072 }

/** Bounds the cost of sequences in a terminal of xterm.js, browser or headless. */
export function limitTerminal(terminal: object): void {
  const core = (terminal as { _core: Core })._core
  boundCounts(core)
  boundLineMoves(core)
  boundStrings(core)
  boundLinks(core._oscLinkService, core)
  boundReflow(core)
}

/** Clamps counts to the number of columns, which has the same effect. */
function boundCounts(core: Core): void {
  const columns = () => core.cols
  // A repeated character may consist of several code points, each of which is drawn again.
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

/** Maximum number of lines that xterm.js moves one by one. Each move shifts all other lines of the screen. */
const maxSingleMoves = 8

/** Scrolls, inserts and deletes lines in one operation, clamped to the scrolling region. */
function boundLineMoves(core: Core): void {
  const moves = { S: 'scrollUp', T: 'scrollDown', L: 'insertLines', M: 'deleteLines' } as const
  for (const [final, move] of Object.entries(moves)) {
    core.registerCsiHandler({ final }, ({ params }) => {
      params[0] = Math.min(params[0] ?? 0, core.rows)
      if (params[0] <= maxSingleMoves) return false
      moveLines(core, move, params[0])
      return true
    })
  }
}

/**
 * xterm.js moves the first line, which provides the attributes of an empty line. The others are moved in one operation.
 */
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

/** Drops a string that is too long as if it had been aborted. Ignores its remaining bytes. */
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

/** @returns a function to call when another string begins */
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

/** Removes the oldest links. Their text remains, without a link. */
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
 * Limits the reflow of a terminal that becomes narrower. xterm.js creates all wrapped rows before it trims the excess,
 * so a scrollback of wide lines becomes millions of rows. Trims those lines first.
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

/** Returns the rows of the line at the cursor, which is not changed. */
function findLine(lines: Lines, row: number): { first: number; last: number } {
  let [first, last] = [row, row]
  while (first > 0 && lines.get(first)?.isWrapped) first--
  while (last + 1 < lines.length && lines.get(last + 1)?.isWrapped) last++
  return { first, last }
}

/** Sets character widths that match those of programs in sandboxes, with bounds. */
export function limitWidths(terminal: {
  readonly unicode: { register(widths: CharacterWidths): void; activeVersion: string }
}): void {
  const bounded = createBoundedWidths(createCharacterWidths())
  terminal.unicode.register(bounded)
  terminal.unicode.activeVersion = bounded.version
}

const maxJoined = 15
const [joinBit, stateShift, ownCell] = [1, 3, 1 << 1]
const belowState = (1 << stateShift) - 1

/** Limits the number of combining marks per cell. Further marks get a separate cell. */
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
 * Returns the number of output bytes to parse between two clock readings. The most expensive two-byte sequences redraw
 * the whole screen, so chunks for large screens are small.
 */
export function computeChunkBytes({ cols, rows }: { cols: number; rows: number }): number {
  return Math.min(maxPiece, Math.max(minPiece, Math.floor(cellBytes / (cols * rows))))
}

const [maxPiece, minPiece] = [2 * 1024, 64]
const cellBytes = 32 * 1024 * 1024
