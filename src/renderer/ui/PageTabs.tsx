import { joinClassNames } from './classNames.ts'
import { PageColumn } from './PageFrame.tsx'

type PageTabsProps = {
  label: string
  tabs: readonly { title: string; address: string; isPresent: boolean }[]
}

export function PageTabs({ label, tabs }: PageTabsProps) {
  return (
    <nav aria-label={label} className="border-b border-line">
      <PageColumn width="table" className="flex gap-1 py-1.5">
        {tabs.map(({ title, address, isPresent }) => (
          <a
            key={title}
            href={address}
            aria-current={isPresent ? 'page' : undefined}
            className={joinClassNames(
              'flex h-7 items-center rounded-control px-2.5',
              isPresent ? 'bg-selected text-text' : 'text-muted hover:bg-hover hover:text-text',
            )}
          >
            {title}
          </a>
        ))}
      </PageColumn>
    </nav>
  )
}
