import { Camera, Circle, FileText, Globe, type LucideIcon, Play, SquareTerminal, Terminal } from 'lucide-react'
import { useState } from 'react'
import { ChoiceChips } from '#renderer/ui/ChoiceChips.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { Section } from '#renderer/ui/section/Section.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import type { ActivityType } from '#shared/contract/activity.ts'
import { formatActor } from '#shared/contract/activityTexts.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { type ActivityFilter, activityFilters, filterLabels, matchesFilter } from './activityFilter.ts'
import { useActivity } from './useHistory.ts'

type ActivitySectionProps = { sandbox: Sandbox; visible: boolean }

export function ActivitySection({ sandbox, visible }: ActivitySectionProps) {
  return (
    <Section id="activity" title="Activity" foldedAtFirst>
      <Activity sandbox={sandbox} visible={visible} />
    </Section>
  )
}

function Activity({ sandbox, visible }: ActivitySectionProps) {
  const { data, error, isPending, refetch } = useActivity(sandbox, visible)
  const [filter, setFilter] = useState<ActivityFilter>('all')
  if (isPending) return <SkeletonRows label="Loading activity…" />
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  const filtered = data.filter(({ type }) => matchesFilter(filter, type))
  return (
    <>
      <ChoiceChips
        legend="Show"
        options={activityFilters.map((activityFilter) => ({
          value: activityFilter,
          label: filterLabels[activityFilter],
        }))}
        value={filter}
        onChange={setFilter}
        className="mb-1.5"
      />
      {filtered.length === 0 && <p className="text-muted">No activity of this kind yet.</p>}
      <ol
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        tabIndex={0}
        aria-label="Activity"
        className="-mx-1.5 max-h-72 overflow-y-auto rounded-small"
      >
        {filtered.map(({ id, type, description, by, at }) => {
          const Icon = getIcon(type)
          return (
            <li key={id} className="flex items-start gap-2 rounded-small px-1.5 py-1 hover:bg-hover">
              <Icon aria-hidden className="mt-0.5 size-3.5 shrink-0 text-faint" />
              <span className="min-w-0 flex-1 text-small break-words text-text">
                {description.replace(/\.$/, '')}
                {by.kind !== 'service' && (
                  <span className="text-faint"> · {by.kind === 'owner' ? 'you' : formatActor(by)}</span>
                )}
              </span>
              <TimeAgo at={at} />
            </li>
          )
        })}
      </ol>
      <a
        href={buildAddress('activity', 'sandbox', sandbox.id)}
        className="mt-1.5 inline-block text-small font-medium text-accent hover:underline"
      >
        Show in Activity
      </a>
    </>
  )
}

const icons: Record<Exclude<ActivityFilter, 'all'>, LucideIcon> = {
  sandbox: Play,
  terminal: SquareTerminal,
  command: Terminal,
  file: FileText,
  snapshot: Camera,
  domain: Globe,
}

function getIcon(type: ActivityType): LucideIcon {
  const of = activityFilters.find((activityFilter) => activityFilter !== 'all' && matchesFilter(activityFilter, type))
  return of === undefined || of === 'all' ? Circle : icons[of]
}
