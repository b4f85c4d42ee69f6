import type { KeyboardEvent } from 'react'

/** Moves focus between rows with the arrow keys, for lists whose rows are links. */
export function moveAmongRows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
  if (step === undefined) return
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('a')]
  const next = rows[rows.findIndex((row) => row.matches(':focus')) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
