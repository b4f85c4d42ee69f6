import { useState } from 'react'
import { nothingSelected, Selection } from './selection.ts'

const storageKey = 'steward.terminals.selection'

export type ChangeSelection = (change: (selection: Selection) => Selection) => void

export function useSelection(): [Selection, ChangeSelection] {
  const [selection, setSelection] = useState(keptSelection)
  const change: ChangeSelection = (changed) =>
    setSelection((before) => {
      const after = changed(before)
      if (after !== before) keep(after)
      return after
    })
  return [selection, change]
}

/** The sandbox that was in view last. */
export function lastSandboxId(): string | null {
  return keptSelection().sandboxId
}

/** Of this window before it was loaded anew, else of the window used last. */
function keptSelection(): Selection {
  return parsed(sessionStorage.getItem(storageKey)) ?? parsed(localStorage.getItem(storageKey)) ?? nothingSelected
}

function keep(selection: Selection): void {
  const written = JSON.stringify(selection)
  sessionStorage.setItem(storageKey, written)
  localStorage.setItem(storageKey, written)
}

function parsed(written: string | null): Selection | undefined {
  if (written === null) return undefined
  try {
    return Selection.safeParse(JSON.parse(written)).data
  } catch {
    return undefined // not JSON: nothing is selected
  }
}
