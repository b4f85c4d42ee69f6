import { useInsertionEffect, useRef } from 'react'

/** Restores the focus of the time before a dialog was opened, unless another element took it. */
export function useFocusReturn(open: boolean): (event: Event) => void {
  const before = useRef<HTMLElement | null>(null)
  // The only effect that comes before `autoFocus` of what the dialog holds.
  useInsertionEffect(() => {
    if (open) before.current = findAnchor(document.activeElement)
  }, [open])
  return (event) => {
    event.preventDefault()
    const element = before.current
    before.current = null // would retain detached elements, such as a whole terminal
    if (document.activeElement !== document.body) return
    focusQuietly(element)
    if (document.activeElement !== document.body) return
    // The focused element was removed or disabled: the dialog below takes the focus.
    const dialogs = document.querySelectorAll<HTMLElement>('[data-dialog="content"]')
    dialogs.item(dialogs.length - 1)?.focus()
  }
}

/** A menu closes when it opens a dialog: what opened the menu stays. */
function findAnchor(element: Element | null): HTMLElement | null {
  const menu = element?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  const anchor = (menu && document.getElementById(menu)) || element
  return anchor instanceof HTMLElement ? anchor : null
}

const returning = 'data-focus-returning'

function focusQuietly(element: HTMLElement | null): void {
  element?.setAttribute(returning, '')
  element?.focus()
  element?.removeAttribute(returning)
}

/** Whether the focus comes back to it from a dialog, right now. */
export function isReturning(element: Element): boolean {
  return element.hasAttribute(returning)
}
