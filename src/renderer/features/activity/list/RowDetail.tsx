import type { ReactNode } from 'react'
import { AddressText } from '#renderer/ui/AddressText.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import type { TimelineEntry } from '#shared/contract/timeline.ts'
import { EntryLinks } from '../EntryLinks.tsx'
import { describeStep, formatActor } from './describeRow.ts'
import { listEntryFacts } from './entryFacts.ts'
import { listEntryLinks } from './entryLinks.ts'
import type { TimelineRow } from './timelineItems.ts'

/** Steps of a request or call with their results, and all details of the entries. */
export function RowDetail({ row: { entries, isRequest, lead }, inTask }: { row: TimelineRow; inTask: boolean }) {
  const [newest] = entries
  const headline = lead ?? newest
  if (entries.length === 1 && !isRequest) {
    return (
      <div className="pt-1 pb-3">
        <Facts entry={newest} withTime />
        <RowLinks entry={newest} inTask={inTask} />
        <EntryRecord entry={newest} />
      </div>
    )
  }
  return (
    <div className="pt-1 pb-3">
      <Facts entry={headline} />
      <RowLinks entry={headline} inTask={inTask} />
      <ol aria-label="Steps" className="mt-2 flex flex-col gap-1 border-l border-line pl-3">
        {entries.toReversed().map((entry) => (
          <li key={entry.sequence}>
            <p className="flex items-center gap-2">
              <StatusDot tone={isRequest && entry === newest ? 'accent' : 'neutral'} />
              <span className="min-w-0 break-words">{describeStep(entry)}</span>
              <time dateTime={entry.at} className="ml-auto shrink-0 text-small text-faint tabular-nums">
                {new Date(entry.at).toLocaleTimeString(undefined, { timeStyle: 'medium' })}
              </time>
            </p>
            <EntryRecord entry={entry} />
          </li>
        ))}
      </ol>
    </div>
  )
}

/** Links to the subject of an entry, and to its task. */
function RowLinks({ entry, inTask }: { entry: TimelineEntry; inTask: boolean }) {
  const links = listEntryLinks(entry)
  const task = inTask || entry.problem !== null ? null : entry.task
  if (links.length === 0 && task === null) return null
  return (
    <div className="mt-1.5">
      <EntryLinks links={links}>
        {task !== null && (
          <a href={buildAddress('activity', 'task', task)} className="font-medium text-accent hover:underline">
            Show whole task
          </a>
        )}
      </EntryLinks>
    </div>
  )
}

function Facts({ entry: { at, detail }, withTime = false }: { entry: TimelineEntry; withTime?: boolean }) {
  return (
    <FactList>
      {withTime && (
        <Fact name="Time">{new Date(at).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'medium' })}</Fact>
      )}
      {listEntryFacts(detail).map(({ name, value, isCode }) => (
        <Fact key={name} name={name}>
          {isCode ? <code className="font-mono break-all whitespace-pre-wrap">{value}</code> : value}
        </Fact>
      ))}
    </FactList>
  )
}

/** Raw entry as stored in the log, including its position in the chain. */
function EntryRecord({ entry }: { entry: TimelineEntry }) {
  const { sequence, kind, actor, subject, detail, hash, previous_hash: previous } = entry
  return (
    <details className="mt-1">
      <summary className="w-fit rounded-small text-small text-faint hover:text-text">
        Entry {sequence} of the log
      </summary>
      <FactList>
        <Fact name="Kind">{kind}</Fact>
        <Fact name="By">{`${formatActor(entry)} (${actor.kind})`}</Fact>
        {subject !== null && (
          <Fact name="About">
            <AddressText text={subject} label="Copy ID" whole />
          </Fact>
        )}
        {entry.task !== null && <Fact name="Task">{entry.task}</Fact>}
        {Object.entries(entry.links).map(([kind, id]) => (
          <Fact key={`link ${kind}`} name={`Link to ${formatFieldName(kind).toLowerCase()}`}>
            {id}
          </Fact>
        ))}
        {Object.entries(detail).map(([name, value]) => (
          <Fact key={name} name={formatFieldName(name)}>
            {value === null ? '–' : String(value)}
          </Fact>
        ))}
        <Fact name="Hash">
          <AddressText text={hash} label="Copy hash" whole />
        </Fact>
        <Fact name="Previous hash">
          <AddressText text={previous} label="Copy previous hash" whole />
        </Fact>
      </FactList>
    </details>
  )
}

function FactList({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1 text-small">{children}</dl>
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint leading-6">{name}</dt>
      <dd className="min-w-0 break-words text-text leading-6">{children}</dd>
    </>
  )
}

/** Formats a field name: `service_sequence` becomes `Service sequence`. */
function formatFieldName(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
