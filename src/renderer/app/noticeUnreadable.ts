import { notify } from '../ui/toast.tsx'

/** Returns a listener that says once per page that list entries could not be read. */
export function noticeUnreadable(): (count: number) => void {
  let isVisible = false
  return (count) => {
    if (isVisible) return
    isVisible = true
    notify.asked(count === 1 ? 'One entry can’t be shown' : `${count} entries can’t be shown`, {
      hint: `Another version of Steward wrote ${count === 1 ? 'it' : 'them'}. Update Steward, then reload.`,
    })
  }
}
