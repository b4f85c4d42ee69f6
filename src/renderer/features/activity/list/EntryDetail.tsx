import type { ReactNode } from 'react'
import type { TimelineEntry } from '../../../../shared/contract/timeline.ts'
import { AddressText } from '../../../ui/AddressText.tsx'
import { actorLabels } from '../filters/timelineFilters.ts'

/** Everything that an entry holds, its place in the chain included. */
export function EntryDetail({ entry }: { entry: TimelineEntry }) {
  const { sequence, at, kind, actor, subject, detail, hash, previous_hash: previous } = entry
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1 pt-1 pb-3 text-small">
      <Fact name="Entry">{sequence}</Fact>
      <Fact name="Time">{new Date(at).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'medium' })}</Fact>
      <Fact name="Kind">{kind}</Fact>
      <Fact name="By">{actor.name === actorLabels[actor.kind] ? actor.name : `${actor.name} (${actor.kind})`}</Fact>
      {subject !== null && (
        <Fact name="About">
          <AddressText text={subject} label="Copy what it is about" whole />
        </Fact>
      )}
      {Object.entries(detail).map(([name, value]) => (
        <Fact key={name} name={fieldName(name)}>
          {value === null ? '–' : String(value)}
        </Fact>
      ))}
      <Fact name="Hash">
        <AddressText text={hash} label="Copy hash" whole />
      </Fact>
      <Fact name="Hash before">
        <AddressText text={previous} label="Copy hash before" whole />
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint leading-6">{name}</dt>
      <dd className="min-w-0 break-words text-text leading-6">{children}</dd>
    </>
  )
}

/** `service_sequence` reads `Service sequence`. */
function fieldName(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
