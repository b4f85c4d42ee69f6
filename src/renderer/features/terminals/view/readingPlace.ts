import type { Terminal } from '@xterm/xterm'
import { createObservable, type Observable } from './observable.ts'

/** `end`: new output is visible. `above`: the user has scrolled up. `news`: output has arrived since then. */
export type ScrollState = 'end' | 'above' | 'news'

export type ReadingPlace = { readonly place: Observable<ScrollState>; toEnd(): void; dispose(): void }

type PlacedTerminal = Pick<Terminal, 'buffer' | 'onScroll' | 'onWriteParsed' | 'scrollToLine' | 'scrollToBottom'> & {
  readonly parser: Pick<Terminal['parser'], 'registerCsiHandler'>
}

/**
 * Preserves the scroll position after the user has scrolled up. xterm.js does so while lines are added. After a program
 * clears the scrollback and redraws it (`CSI 3 J`), the same line is scrolled into view again.
 * @param onMove called when the user scrolls or types
 */
export function trackReadingPlace(
  terminal: PlacedTerminal,
  onMove: (listener: () => void) => () => void,
): ReadingPlace {
  const place = createObservable<ScrollState>('end')
  let pinned: number | undefined
  let cleared = false
  const linesBelow = () => terminal.buffer.active.baseY - terminal.buffer.active.viewportY

  function moved(): void {
    if (pinned !== undefined) return
    if (linesBelow() === 0) place.set('end')
    else if (place.now === 'end') place.set('above')
  }

  function parsed(): void {
    bringBack()
    moved()
    if (place.now === 'above') place.set('news')
  }

  function bringBack(): void {
    if (pinned === undefined || terminal.buffer.active.baseY < pinned) return
    if (terminal.buffer.active.viewportY !== pinned) terminal.scrollToLine(pinned)
    else if (!cleared) pinned = undefined
    cleared = false
  }

  const parts = [
    terminal.parser.registerCsiHandler({ final: 'J' }, ([erased]) => {
      if (erased !== 3) return false
      if (pinned === undefined && linesBelow() > 0) pinned = terminal.buffer.active.viewportY
      cleared = true
      return false
    }),
    terminal.onWriteParsed(parsed),
    terminal.onScroll(moved),
    {
      dispose: onMove(() => {
        pinned = undefined
      }),
    },
  ]
  return {
    place,
    toEnd() {
      pinned = undefined
      terminal.scrollToBottom()
    },
    dispose: () => parts.forEach((part) => void part.dispose()),
  }
}
