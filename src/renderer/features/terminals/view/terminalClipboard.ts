import type { Terminal } from '@xterm/xterm'

/** @returns false when nothing is selected or the browser refuses. */
export async function copySelection(terminal: Terminal): Promise<boolean> {
  const text = terminal.getSelection()
  if (text === '') return false
  if (await writeClipboard(text)) return true
  // Fallback without that permission: the terminal handles the `copy` event with its selection.
  terminal.focus()
  return document.execCommand('copy')
}

export async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** @returns undefined when the browser does not let a page read the clipboard. */
export async function readClipboard(): Promise<string | undefined> {
  try {
    return await navigator.clipboard.readText()
  } catch {
    return undefined
  }
}
