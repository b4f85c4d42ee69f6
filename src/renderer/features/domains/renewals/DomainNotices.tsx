import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { goTo } from '#renderer/ui/route.ts'
import { notify } from '#renderer/ui/toast.tsx'

/** Shows notices about domains on every screen, or as system notifications while the window is in the background. */
export function DomainNotices() {
  useLiveEvent((event) => {
    if (event.type !== 'domains.notice') return
    const { title, body, domain } = event
    const show = () => (domain === null ? goTo('domains') : goTo('domains', 'name', domain))
    const isAllowed = 'Notification' in window && Notification.permission === 'granted'
    if (document.hasFocus() || !isAllowed) {
      // The notice may disappear, because the badge remains.
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
