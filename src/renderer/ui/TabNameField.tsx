import { type KeyboardEvent, useLayoutEffect, useRef } from 'react'

type TabNameFieldProps = {
  /** Returns the tab that the field covers. */
  over: () => HTMLElement | null | undefined
  name: string
  onDone: (name: string) => void
  onCancel: () => void
}

const narrowest = 140

/** Field positioned over its tab rather than inside, because a tab list may contain only tabs. */
export function TabNameField({ over, name, onDone, onCancel }: TabNameFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const answered = useRef(false)

  useLayoutEffect(() => {
    const tab = over()
    const bar = field.current?.offsetParent
    if (!tab || !bar || !field.current) return
    const place = tab.getBoundingClientRect()
    field.current.style.left = `${place.left - bar.getBoundingClientRect().left}px`
    field.current.style.width = `${Math.max(place.width, narrowest)}px`
  })
  useLayoutEffect(() => field.current?.select(), [])

  const answer = (isAccepted: boolean) => {
    if (answered.current) return
    answered.current = true
    if (isAccepted) onDone(field.current?.value.trim() ?? '')
    else onCancel()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') answer(true)
    else if (event.key === 'Escape') answer(false)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <input
      ref={field}
      aria-label="Name"
      defaultValue={name}
      maxLength={64}
      spellCheck={false}
      // biome-ignore lint/a11y/noAutofocus: the user has just requested to type here
      autoFocus
      onKeyDown={onKeyDown}
      onBlur={() => answer(true)}
      className="absolute inset-y-0.5 z-20 rounded-small border border-accent bg-raised px-2.5 text-text outline-none"
    />
  )
}
