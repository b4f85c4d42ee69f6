import { joinClassNames } from '../../ui/classNames.ts'
import { buildAddress } from '../../ui/route.ts'

const pages = [
  { title: 'Timeline', place: ['activity'] },
  { title: 'Tasks', place: ['activity', 'tasks'] },
  { title: 'Recordings', place: ['activity', 'recordings'] },
] as const

/** Tabs of the activity screen: entries, tasks and recordings. */
export function ActivityTabs({ present }: { present: (typeof pages)[number]['title'] }) {
  return (
    <nav aria-label="Activity" className="flex gap-1">
      {pages.map(({ title, place }) => (
        <a
          key={title}
          href={buildAddress(...place)}
          aria-current={title === present ? 'page' : undefined}
          className={joinClassNames(
            'flex h-7 items-center rounded-control px-2.5',
            title === present ? 'bg-selected text-text' : 'text-muted hover:bg-hover hover:text-text',
          )}
        >
          {title}
        </a>
      ))}
    </nav>
  )
}
