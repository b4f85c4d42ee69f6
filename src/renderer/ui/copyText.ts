import { notify } from './toast.tsx'

/** Puts `text` on the clipboard, or says why it could not. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch (error) {
    notify.failed(error, { title: 'Could not copy. Select the text and copy it yourself.' })
    return false
  }
}
