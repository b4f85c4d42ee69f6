import { X } from 'lucide-react'
import type { DragEvent, KeyboardEvent } from 'react'
import { joinClassNames } from './classNames.ts'
import type { Tab } from './tab.ts'
import { getPanelId, getTabId, useTabs } from './tabsContext.ts'

type TabButtonProps = {
  tab: Tab
  selected: boolean
  onShow: () => void
  onClose?: () => void
  onRename?: () => void
  onDragStart?: (event: DragEvent) => void
  onDragEnd?: () => void
}

export function TabButton({ tab, selected, onShow, onClose, onRename, ...rest }: TabButtonProps) {
  const tabs = useTabs()
  const onKeyDown = (event: KeyboardEvent) => {
    const deed = event.key === 'Delete' ? onClose : event.key === 'F2' ? onRename : undefined
    if (!deed) return
    event.preventDefault()
    event.stopPropagation()
    deed()
  }
  return (
    <div
      {...rest}
      role="presentation"
      draggable={rest.onDragStart !== undefined}
      onAuxClick={(event) => event.button === 1 && onClose?.()}
      className={joinClassNames(
        'group relative flex max-w-52 items-stretch border-r border-line',
        selected
          ? 'bg-canvas text-text after:absolute after:inset-x-0 after:-bottom-px after:h-px after:bg-canvas'
          : 'text-muted hover:text-text',
      )}
    >
      <button
        type="button"
        role="tab"
        id={getTabId(tabs, tab.id)}
        aria-selected={selected}
        aria-controls={getPanelId(tabs, tab.id)}
        tabIndex={selected ? 0 : -1}
        title={tab.title}
        onClick={onShow}
        // otherwise a middle click would start autoscroll
        onMouseDown={(event) => event.button === 1 && event.preventDefault()}
        onDoubleClick={onRename}
        onKeyDown={onKeyDown}
        className={joinClassNames(
          'flex min-w-0 items-center gap-2 pl-3 focus-visible:-outline-offset-2',
          onClose ? 'pr-7' : 'pr-3',
        )}
      >
        {tab.mark}
        <span className="truncate">{tab.label}</span>
        {tab.note}
      </button>
      {onClose && (
        // For pointers only. Keyboard users press Delete, because a tab list may contain only tabs.
        <span
          aria-hidden
          onClick={onClose}
          className={joinClassNames(
            'absolute top-1/2 right-1.5 flex size-5 -translate-y-1/2 items-center justify-center rounded-small group-hover:opacity-100 hover:bg-hover',
            !selected && 'opacity-0',
          )}
        >
          <X className="size-3.5" />
        </span>
      )}
    </div>
  )
}
