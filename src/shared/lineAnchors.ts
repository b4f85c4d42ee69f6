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
type Anchor = { place: number; isGone: boolean }

/**
 * Tracks lines like xterm.js markers, but with one set of listeners for all: each marker adds three, all called for every
 * line that is trimmed.
 */
export function lineAnchors(terminal: object): LineAnchors {
  const { buffers } = (terminal as { _core: Core })._core
  let followed: { buffer: NormalBuffer; anchors: Set<Anchor>; trimmed: number } | undefined

  const follow = (buffer: NormalBuffer) => {
    const state = { buffer, anchors: new Set<Anchor>(), trimmed: 0 }
    const drop = (anchor: Anchor): void => {
      anchor.isGone = true
      state.anchors.delete(anchor)
    }
    const clearMarkers = buffer.clearMarkers.bind(buffer)
    const clearAllMarkers = buffer.clearAllMarkers.bind(buffer)
    buffer.clearMarkers = (line) => {
      for (const anchor of state.anchors) if (anchor.place - state.trimmed === line) drop(anchor)
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
      for (const anchor of state.anchors) if (anchor.place - state.trimmed >= index) anchor.place += amount
    })
    buffer.lines.onDelete(({ index, amount }) => {
      for (const anchor of state.anchors) {
        const line = anchor.place - state.trimmed
        if (line >= index && line < index + amount) drop(anchor)
        else if (line > index) anchor.place -= amount
      }
    })
    return state
  }

  /** A reset creates a new, empty buffer. */
  const present = () => {
    if (followed?.buffer === buffers.normal) return followed
    for (const anchor of followed?.anchors ?? []) anchor.isGone = true
    followed = follow(buffers.normal)
    return followed
  }

  return {
    add(line) {
      if (buffers.active !== buffers.normal) return undefined
      const state = present()
      const anchor: Anchor = { place: line + state.trimmed, isGone: false }
      state.anchors.add(anchor)
      return {
        get line() {
          return anchor.place - state.trimmed
        },
        get isDisposed() {
          present()
          return anchor.isGone || anchor.place < state.trimmed
        },
        dispose() {
          anchor.isGone = true
          state.anchors.delete(anchor)
        },
      }
    },
  }
}
