import { type ReactNode, useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { moveAmongRows } from '#renderer/ui/moveAmongRows.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { type Arrangement, arrangeInbox, countArrivals } from './arrangement.ts'
import { InboxRow } from './InboxRow.tsx'
import type { Inbox } from './inboxList.ts'
import { describeRivals } from './rivals.ts'

type InboxListProps = { inbox: Inbox; present: string | undefined }

/** List of pending requests, then decided ones. Arrow keys move between rows. */
export function InboxList({ inbox, present }: InboxListProps) {
  const { waiting, decided, arrived, hold, release, renew } = useSteadyRows(inbox)
  return (
    <section
      aria-label="Requests"
      onPointerEnter={hold}
      onPointerLeave={release}
      onKeyDown={moveAmongRows}
      className="flex size-full flex-col overflow-auto bg-panel"
    >
      <RowGroup title="Waiting" records={waiting} present={present} empty="Nothing needs you.">
        {arrived > 0 && (
          <Button size="small" variant="ghost" onClick={renew} className="-my-1">
            Show {arrived} new
          </Button>
        )}
      </RowGroup>
      <RowGroup title="Earlier" records={decided} present={present} empty="No earlier requests." />
    </section>
  )
}

type RowGroupProps = {
  title: string
  records: readonly IntentRecord[]
  present: string | undefined
  empty: string
  children?: ReactNode
}

function RowGroup({ title, records, present, empty, children }: RowGroupProps) {
  return (
    <section aria-label={title} className="px-2 pt-2.5 pb-1.5">
      <div className="flex h-6 items-center justify-between px-2">
        <h3 className="text-small font-medium text-faint">
          {title}
          {records.length > 0 && <span className="ml-1.5 tabular-nums">{records.length}</span>}
        </h3>
        {children}
      </div>
      {records.length === 0 ? (
        <p className="px-2 py-1 text-small text-faint">{empty}</p>
      ) : (
        <ul aria-label={title} className="flex flex-col gap-0.5">
          {records.map((record) => (
            <InboxRow
              key={record.id}
              record={record}
              isPresent={record.id === present}
              rival={describeRivals(record, records)}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

/**
 * Freezes the order of rows while the pointer is over them, so that rows do not move under the pointer. Counts arrivals
 * in the meantime.
 */
function useSteadyRows(inbox: Inbox) {
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
    /** Shows the arrived rows and freezes the order again. */
    renew: () => setFrozen(present),
  }
}
