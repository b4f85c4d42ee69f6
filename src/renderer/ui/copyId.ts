import { notify } from './toast.tsx'

export async function copyId(id: string, of: 'sandbox' | 'terminal'): Promise<void> {
  try {
    await navigator.clipboard.writeText(id)
    notify.done(`The id of the ${of} is copied.`)
  } catch {
    notify.told('The browser did not allow copying.', { hint: `The id of the ${of} is ${id}` })
  }
}
