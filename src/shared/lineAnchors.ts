/** Line of a terminal's normal screen, tracked while lines are scrolled, inserted and deleted. */
export type LineAnchor = {
  readonly line: number
  /** Whether the line was trimmed from the scrollback, deleted or erased. */
  readonly isDisposed: boolean
  dispose(): void
}

export type LineAnchors = {
  /** @returns undefined while the alternate screen is active */
  add(line: number): LineAnchor | undefined
}

type Disposable = { dispose(): void }
type Range = { readonly index: number; readonly amount: number }
type Lines = {
  onTrim(listener: (amount: number) => void): Disposable
  onInsert(listener: (range: Range) => void): Disposable
  onDelete(listener: (range: Range) => void): Disposable
}
type NormalBuffer = { readonly lines: Lines; clearMarkers(line: number): void; clearAllMarkers(): void }
type Core = { readonly buffers: { readonly normal: NormalBuffer; readonly active: object } }

/** `place` counts from the first line ever written, so that scrolling does not change it. */
type Anchor = { line: number; isDisposed: boolean }

/**
 * Tracks lines like the markers of xterm.js, but with one shared set of listeners. Each xterm.js marker adds three,
 * which are all called for every trimmed line.
 */
export function createLineAnchors(terminal: object): LineAnchors {
  const { buffers } = (terminal as { _core: Core })._core
  let followed: { buffer: NormalBuffer; anchors: Set<Anchor>; trimmed: number } | undefined

  const follow = (buffer: NormalBuffer) => {
    const state = { buffer, anchors: new Set<Anchor>(), trimmed: 0 }
    const drop = (anchor: Anchor): void => {
      anchor.isDisposed = true
      state.anchors.delete(anchor)
    }
    const clearMarkers = buffer.clearMarkers.bind(buffer)
    const clearAllMarkers = buffer.clearAllMarkers.bind(buffer)
    buffer.clearMarkers = (line) => {
      for (const anchor of state.anchors) if (anchor.line - state.trimmed === line) drop(anchor)
      clearMarkers(line)
    }
    buffer.clearAllMarkers = () => {
      for (const anchor of state.anchors) drop(anchor)
      clearAllMarkers()
    }
    buffer.lines.onTrim((amount) => {
      state.trimmed += amount
    })
    buffer.lines.onInsert(({ index, amount }) => {
      for (const anchor of state.anchors) if (anchor.line - state.trimmed >= index) anchor.line += amount
    })
    buffer.lines.onDelete(({ index, amount }) => {
      for (const anchor of state.anchors) {
        const line = anchor.line - state.trimmed
        if (line >= index && line < index + amount) drop(anchor)
        else if (line > index) anchor.line -= amount
      }
    })
    return state
  }

  /** A reset of the terminal creates a new, empty buffer. */
  const present = () => {
    if (followed?.buffer === buffers.normal) return followed
    for (const anchor of followed?.anchors ?? []) anchor.isDisposed = true
    followed = follow(buffers.normal)
    return followed
  }

  return {
    add(line) {
      if (buffers.active !== buffers.normal) return undefined
      const state = present()
      const anchor: Anchor = { line: line + state.trimmed, isDisposed: false }
      state.anchors.add(anchor)
      return {
        get line() {
          return anchor.line - state.trimmed
        },
        get isDisposed() {
          present()
          return anchor.isDisposed || anchor.line < state.trimmed
        },
        dispose() {
          anchor.isDisposed = true
          state.anchors.delete(anchor)
        },
      }
    },
  }
}
