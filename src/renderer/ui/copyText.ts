import { detectKeyboard } from './commands/shortcuts.ts'
import { notify } from './toast.tsx'

/** Copies `text` to the clipboard, and shows a notice on error. @returns whether the text was copied */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch (error) {
    notify.failed(error, { title: `Couldn’t copy. Press ${detectKeyboard().apple ? '⌘C' : 'Ctrl+C'}.` })
    return false
  }
}
