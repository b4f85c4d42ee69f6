import { z } from 'zod'
import { persistValue } from '../../storage/persistValue.ts'

const storedIds = persistValue('steward.palette.recent', z.array(z.string()), [])
const maxRecent = 20

/** The ids of what was chosen in the palette, the last first. */
export function readRecentCommands(): readonly string[] {
  return storedIds.read()
}

export function saveRecentCommand(id: string): void {
  const others = readRecentCommands().filter((it) => it !== id)
  storedIds.write([id, ...others].slice(0, maxRecent))
}
