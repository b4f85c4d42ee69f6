import type { Terminal } from '@xterm/xterm'

/** @returns false when nothing is selected or the browser refuses. */
export async function copySelection(terminal: Terminal): Promise<boolean> {
  const text = terminal.getSelection()
  if (text === '') return false
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Without that permission the older way still works: the terminal answers the `copy` event with its selection.
    terminal.focus()
    return document.execCommand('copy')
  }
}

/** @returns false when the browser does not let a page read the clipboard. */
export async function pasteClipboard(terminal: Terminal): Promise<boolean> {
  try {
    terminal.paste(await navigator.clipboard.readText())
    return true
  } catch {
    return false
  } finally {
    terminal.focus()
  }
}
