import { notify } from './toast.tsx'

/** Runs `work`, and shows a notice with the title if it fails. @returns the result, or undefined if it failed */
export async function showErrorNotice<T>(title: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    notify.failed(error, { title })
    return undefined
  }
}
