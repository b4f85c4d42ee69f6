import { classNames } from '../ui/classNames.ts'
import type { Badge, Feature } from '../ui/feature.ts'
import { Tooltip } from '../ui/Tooltip.tsx'
import mark from './mark.svg?no-inline'
import { goToSection } from './useSection.ts'

type SidebarProps = { features: readonly Feature[]; present: Feature | undefined }

export function Sidebar({ features, present }: SidebarProps) {
  return (
    <nav aria-label="Sections" className="flex w-12 flex-col items-center gap-1 border-r border-line bg-panel py-2.5">
      <img src={mark} alt="Steward" className="mb-2.5 size-6" />
      {features.map((feature, place) => (
        <SectionButton key={feature.id} feature={feature} place={place} isPresent={feature.id === present?.id} />
      ))}
    </nav>
  )
}

const noBadge = () => undefined

function SectionButton({ feature, place, isPresent }: { feature: Feature; place: number; isPresent: boolean }) {
  const { id, title, icon: Icon, useBadge = noBadge } = feature
  const badge = useBadge()
  const words = badge && badge.count > 0 ? `${title}: ${badge.words}` : title
  return (
    <Tooltip content={words} shortcut={`alt+${place + 1}`} side="right">
      <button
        type="button"
        aria-label={words}
        aria-current={isPresent ? 'page' : undefined}
        onClick={() => goToSection(id)}
        className={classNames(
          'relative flex size-8 items-center justify-center rounded-control transition-colors duration-100',
          isPresent ? 'bg-selected text-text' : 'text-muted hover:bg-hover hover:text-text',
        )}
      >
        <Icon aria-hidden className="size-4.5" strokeWidth={1.75} />
        {badge && badge.count > 0 && <BadgeMark count={badge.count} />}
      </button>
    </Tooltip>
  )
}

function BadgeMark({ count }: Pick<Badge, 'count'>) {
  return (
    <span
      aria-hidden
      className="absolute -top-1 -right-1 flex h-4 min-w-4 items-center justify-center rounded-full bg-accent-solid px-1 text-tiny font-semibold text-on-solid tabular-nums"
    >
      {count > 99 ? '99+' : count}
    </span>
  )
}
