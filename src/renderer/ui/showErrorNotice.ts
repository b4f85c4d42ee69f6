import { notify } from './toast.tsx'

/** @returns undefined if it failed, after a notice with this title */
export async function showErrorNotice<T>(title: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    notify.failed(error, { title })
    return undefined
  }
}
