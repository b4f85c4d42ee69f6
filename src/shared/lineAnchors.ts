/** A line of a terminal's normal screen, followed while lines scroll, come and go. */
export type LineAnchor = {
  readonly line: number
  /** Whether the line is gone: scrolled out for good, deleted or erased. */
  readonly isDisposed: boolean
  dispose(): void
}

export type LineAnchors = {
  /** @returns undefined while a program fills the screen */
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

/** `place` counts from the first line that ever was, so that scrolling changes none of them. */
type Anchor = { place: number; isGone: boolean }

/**
 * Follows lines as the markers of xterm.js do, with one listener for all of them: each marker has three of its own, all
 * of which are called for every line that scrolls out.
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

  /** A reset makes a new buffer, without the lines of the one before. */
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
