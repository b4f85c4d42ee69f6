import { useSyncExternalStore } from 'react'
import { z } from 'zod'

const storageKey = 'steward.details.folds'
const changed = 'steward:details-folds'
const Folds = z.record(z.string(), z.boolean())

/** Whether a section is open, as the person left it, for every sandbox alike. */
export function useFold(id: string, openAtFirst: boolean): [open: boolean, setOpen: (open: boolean) => void] {
  const written = useSyncExternalStore(subscribe, () => localStorage.getItem(storageKey))
  const setOpen = (open: boolean) => {
    localStorage.setItem(storageKey, JSON.stringify({ ...parsed(localStorage.getItem(storageKey)), [id]: open }))
    window.dispatchEvent(new Event(changed))
  }
  return [parsed(written)[id] ?? openAtFirst, setOpen]
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(changed, listener)
  return () => window.removeEventListener(changed, listener)
}

function parsed(written: string | null): z.infer<typeof Folds> {
  try {
    return Folds.parse(JSON.parse(written ?? '{}'))
  } catch {
    return {} // written by something else
  }
}
