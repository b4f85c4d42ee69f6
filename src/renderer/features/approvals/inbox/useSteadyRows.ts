import { useState } from 'react'
import { type Arrangement, arrangementOf, arrivals } from './arrangement.ts'
import type { Inbox } from './inboxList.ts'

/**
 * The order of the rows. It holds still while the pointer is over them, so that nobody presses a row that has just moved
 * there; what comes meanwhile is counted.
 */
export function useSteadyRows(inbox: Inbox) {
  const [held, setHeld] = useState<Arrangement>()
  const present = arrangementOf(inbox)
  const shown = held ?? present
  const byId = new Map(inbox.map((record) => [record.id, record]))
  const records = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? [])
  return {
    waiting: records(shown.waiting),
    decided: records(shown.decided),
    arrived: arrivals(shown, present),
    hold: () => setHeld((already) => already ?? present),
    release: () => setHeld(undefined),
    /** Shows what came, and holds still again. */
    renew: () => setHeld(present),
  }
}
