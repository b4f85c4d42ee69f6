import type { Terminal } from '@xterm/xterm'

/** @returns false if nothing is selected or the browser denied access */
export async function copySelection(terminal: Terminal): Promise<boolean> {
  const text = terminal.getSelection()
  if (text === '') return false
  if (await writeClipboard(text)) return true
  // Fallback without permission: the terminal handles the `copy` event with its selection.
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

/** @returns undefined if the browser does not allow the page to read the clipboard */
export async function readClipboard(): Promise<string | undefined> {
  try {
    return await navigator.clipboard.readText()
  } catch {
    return undefined
  }
}
