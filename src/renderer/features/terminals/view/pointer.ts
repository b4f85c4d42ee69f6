import type { Terminal } from '@xterm/xterm'
import type { TerminalPreferences } from './preferences/terminalPreferences.ts'
import { copySelection } from './terminalClipboard.ts'

type PointerOptions = {
  host: HTMLElement
  terminal: Terminal
  preferences: () => TerminalPreferences
  paste: () => void
  signal: AbortSignal
}

/** Handles pointer actions other than selection: copy on select, and paste by right click. */
export function followPointer({ host, terminal, preferences, paste, signal }: PointerOptions): void {
  function copySelected(): void {
    // Deferred until xterm.js has handled the `pointerup` event.
    requestAnimationFrame(() => {
      if (!signal.aborted && preferences().copyOnSelect && terminal.hasSelection()) void copySelection(terminal)
    })
  }

  function pressed({ button }: PointerEvent): void {
    if (button === 0) document.addEventListener('pointerup', copySelected, { once: true, signal })
  }

  function openMenu(event: MouseEvent): void {
    if (preferences().rightClick !== 'paste' || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    if (terminal.hasSelection()) void copySelection(terminal).then((copied) => copied && terminal.clearSelection())
    else paste()
  }

  host.addEventListener('pointerdown', pressed, { signal })
  host.addEventListener('contextmenu', openMenu, { signal, capture: true })
}
