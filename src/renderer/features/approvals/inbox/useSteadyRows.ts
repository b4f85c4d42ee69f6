import { useState } from 'react'
import { type Arrangement, arrangeInbox, countArrivals } from './arrangement.ts'
import type { Inbox } from './inboxList.ts'

/**
 * Freezes the order of rows while the pointer is over them, so that no row moves under it; counts new ones in the
 * meantime.
 */
export function useSteadyRows(inbox: Inbox) {
  const [frozen, setFrozen] = useState<Arrangement>()
  const present = arrangeInbox(inbox)
  const visible = frozen ?? present
  const byId = new Map(inbox.map((record) => [record.id, record]))
  const records = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? [])
  return {
    waiting: records(visible.waiting),
    decided: records(visible.decided),
    arrived: countArrivals(visible, present),
    hold: () => setFrozen((already) => already ?? present),
    release: () => setFrozen(undefined),
    /** Shows what came, and holds still again. */
    renew: () => setFrozen(present),
  }
}
