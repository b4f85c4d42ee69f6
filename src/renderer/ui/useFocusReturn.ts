import { useInsertionEffect, useRef } from 'react'

/** Restores the focus to the element that had it before a dialog opened, unless another element has taken it. */
export function useFocusReturn(open: boolean): (event: Event) => void {
  const before = useRef<HTMLElement | null>(null)
  // Only insertion effects run before `autoFocus` of the dialog's content.
  useInsertionEffect(() => {
    if (open) before.current = findAnchor(document.activeElement)
  }, [open])
  return (event) => {
    event.preventDefault()
    const element = before.current
    before.current = null // otherwise detached elements, such as an entire terminal, would be retained
    if (document.activeElement !== document.body) return
    focusQuietly(element)
    if (document.activeElement !== document.body) return
    // The previously focused element was removed or disabled, so the topmost remaining dialog takes the focus.
    const dialogs = document.querySelectorAll<HTMLElement>('[data-dialog="content"]')
    dialogs.item(dialogs.length - 1)?.focus()
  }
}

/** A menu closes when it opens a dialog, so focus returns to the element that opened the menu. */
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

/** Whether a dialog is currently returning focus to the element. */
export function isReturning(element: Element): boolean {
  return element.hasAttribute(returning)
}
