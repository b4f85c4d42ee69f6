import { detectKeyboard } from './commands/shortcuts.ts'
import { notify } from './toast.tsx'

/** Puts `text` on the clipboard, or says why it could not. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch (error) {
    notify.failed(error, { title: `Couldn’t copy. Press ${detectKeyboard().apple ? '⌘C' : 'Ctrl+C'}.` })
    return false
  }
}
