import { z } from 'zod'

const storageKey = 'steward.palette.recent'
const mostKept = 20
const Ids = z.array(z.string())

/** The ids of what was chosen in the palette, the last first. */
export function recentCommands(): readonly string[] {
  try {
    return Ids.parse(JSON.parse(localStorage.getItem(storageKey) ?? '[]'))
  } catch {
    return [] // written by something else
  }
}

export function keepRecent(id: string): void {
  const others = recentCommands().filter((it) => it !== id)
  localStorage.setItem(storageKey, JSON.stringify([id, ...others].slice(0, mostKept)))
}
