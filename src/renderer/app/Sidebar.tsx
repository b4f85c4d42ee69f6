import { PanelLeftClose, PanelLeftOpen } from 'lucide-react'
import { joinClassNames } from '../ui/classNames.ts'
import type { Badge, Feature } from '../ui/feature.ts'
import { Tooltip } from '../ui/Tooltip.tsx'
import { featureGroups, listKeys } from './features.ts'
import mark from './mark.svg?no-inline'
import { goToSection } from './useSection.ts'
import type { SectionLabels } from './useSectionLabels.ts'

type SidebarProps = {
  present: Feature | undefined
  labels: SectionLabels
  /** Whether labels overlay the content because there is no space beside it. */
  isNarrow: boolean
}

/** Renders the sections in groups, optionally with labels. Ten sections fit in a window at 200 % zoom. */
export function Sidebar({ present, labels, isNarrow }: SidebarProps) {
  const wide = labels.visible && !isNarrow
  return (
    <div className={joinClassNames('relative', wide ? 'w-44' : 'w-12')}>
      <nav
        aria-label="Sections"
        className={joinClassNames(
          'absolute inset-y-0 left-0 flex flex-col overflow-x-hidden overflow-y-auto border-r border-line bg-panel p-2 [scrollbar-width:none] shallow:py-1',
          labels.visible ? 'w-44' : 'w-12',
          labels.visible && isNarrow && 'z-30 shadow-dialog',
        )}
      >
        <img src={mark} alt="Steward" className="mx-1 mb-2 size-6 shrink-0 shallow:hidden" />
        {featureGroups.map((group, place) => (
          <ul
            key={group[0]?.id}
            className={joinClassNames(
              'flex flex-col gap-1 shallow:gap-0.5',
              place > 0 && 'mt-2 border-t border-line pt-2 shallow:mt-1 shallow:pt-1',
            )}
          >
            {group.map((feature) => (
              <li key={feature.id}>
                <SectionButton feature={feature} isPresent={feature.id === present?.id} named={labels.visible} />
              </li>
            ))}
          </ul>
        ))}
        <span className="flex-1" />
        <LabelsButton labels={labels} />
      </nav>
    </div>
  )
}

const useNoBadge = () => undefined
const buttonLook =
  'relative flex h-8 shrink-0 items-center gap-2.5 rounded-control px-1.75 text-left transition-colors duration-100 shallow:h-7'

type SectionButtonProps = { feature: Feature; isPresent: boolean; named: boolean }

function SectionButton({ feature, isPresent, named }: SectionButtonProps) {
  const { id, title, icon: Icon, useBadge = useNoBadge } = feature
  const badge = useBadge()
  const count = badge?.count ?? 0
  const words = badge && count > 0 ? `${title}: ${badge.words}` : title
  return (
    <Tooltip content={words} shortcut={listKeys(feature)} side="right">
      <button
        type="button"
        {...(!named && { 'aria-label': words })}
        aria-current={isPresent ? 'page' : undefined}
        onClick={() => goToSection(id)}
        className={joinClassNames(
          buttonLook,
          named ? 'w-full' : 'w-8',
          isPresent ? 'bg-selected text-text' : 'text-muted hover:bg-hover hover:text-text',
        )}
      >
        <Icon aria-hidden className="size-4.5 shrink-0" strokeWidth={1.75} />
        {named && (
          <span className="min-w-0 flex-1 truncate">
            {title}
            {badge && count > 0 && <span className="sr-only">: {badge.words}</span>}
          </span>
        )}
        {count > 0 && <BadgeMark count={count} named={named} />}
      </button>
    </Tooltip>
  )
}

function LabelsButton({ labels }: { labels: SectionLabels }) {
  const words = labels.visible ? 'Hide section names' : 'Show section names'
  const Icon = labels.visible ? PanelLeftClose : PanelLeftOpen
  return (
    <Tooltip content={words} side="right">
      <button
        type="button"
        aria-label={words}
        onClick={labels.toggle}
        className={joinClassNames(buttonLook, 'mt-1 w-8 text-faint hover:bg-hover hover:text-text')}
      >
        <Icon aria-hidden className="size-4.5" strokeWidth={1.75} />
      </button>
    </Tooltip>
  )
}

function BadgeMark({ count, named }: Pick<Badge, 'count'> & { named: boolean }) {
  return (
    <span
      aria-hidden
      className={joinClassNames(
        'flex h-4 min-w-4 items-center justify-center rounded-full bg-accent-solid px-1 text-tiny font-semibold text-on-solid tabular-nums',
        !named && 'absolute -top-1 -right-1',
      )}
    >
      {count > 99 ? '99+' : count}
    </span>
  )
}
