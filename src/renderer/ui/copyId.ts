import { notify } from './toast.tsx'

export async function copyId(id: string, of: 'sandbox' | 'terminal'): Promise<void> {
  try {
    await navigator.clipboard.writeText(id)
    notify.done(of === 'sandbox' ? 'Sandbox ID copied' : 'Terminal ID copied')
  } catch {
    notify.info('The browser did not allow copying.', { hint: `The ${of} ID is ${id}` })
  }
}
