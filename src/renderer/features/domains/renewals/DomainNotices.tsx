import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { goTo } from '#renderer/ui/route.ts'
import { notify } from '#renderer/ui/toast.tsx'

/** Tells of domains wherever the person is: on the screen, or by the system while the window is behind others. */
export function DomainNotices() {
  useLiveEvent((event) => {
    if (event.type !== 'domains.told') return
    const { title, body, domain } = event
    const show = () => (domain === null ? goTo('domains') : goTo('domains', 'name', domain))
    const isAllowed = 'Notification' in window && Notification.permission === 'granted'
    if (document.hasFocus() || !isAllowed) {
      // The badge stays: this may go, and covers nothing for long.
      notify.info(title, { hint: body, action: { label: 'Show', run: show } })
      return
    }
    const notification = new Notification(title, { body, tag: `domains ${domain ?? ''}`, silent: true })
    notification.addEventListener('click', () => {
      window.focus()
      show()
    })
  })
  return null
}
