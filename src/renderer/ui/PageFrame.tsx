import { type ReactNode, type Ref, useEffect, useState } from 'react'
import { joinClassNames } from './classNames.ts'
import { ListButton } from './panels/ListButton.tsx'
import { listId, listWidth } from './panels/panelWidths.ts'
import { type FoldingPanel, ResizablePanels } from './panels/ResizablePanels.tsx'
import { usePanelRoom } from './panels/usePanelRoom.ts'
import { useRoute } from './route.ts'

type PageFrameProps = {
  title: string
  /** Number of listed items. */
  count?: number | undefined
  /** Small text beside the title, such as an overall state. */
  note?: ReactNode
  actions?: ReactNode
  /** Content below the header at full width, such as filters or notices. */
  bar?: ReactNode
  /** List at the left in which the user selects what the screen shows. */
  list?: { label: string; content: ReactNode } | undefined
  /** Panel at the right with details of the selected item. */
  end?: FoldingPanel | undefined
  children: ReactNode
}

/** Frame of a screen: header, resizable list and content. */
export function PageFrame({ title, count, note, actions, bar, list, end, children }: PageFrameProps) {
  const room = usePanelRoom()
  const [listOpen, setListOpen] = useState(false)
  const place = useRoute().join('/')
  useEffect(() => {
    // Closes the list after a selection.
    if (place !== undefined) setListOpen(false)
  }, [place])
  return (
    <div className="flex size-full min-h-0 flex-col">
      <header className="flex h-11 shrink-0 items-center gap-2 border-b border-line pr-3 pl-4">
        {list && room.listFolds && <ListButton label={list.label} open={listOpen} onOpenChange={setListOpen} />}
        <h2 dir="auto" className="min-w-0 truncate text-title font-semibold text-text" title={title}>
          {title}
        </h2>
        {count !== undefined && (
          <span className="text-small text-faint tabular-nums">{count.toLocaleString('en')}</span>
        )}
        <div className="min-w-0 flex-1 truncate text-small text-muted">{note}</div>
        <div className="flex shrink-0 items-center gap-2">{actions}</div>
      </header>
      {bar}
      <div className="min-h-0 flex-1 [--drawer-top:0px]">
        <ResizablePanels
          room={room}
          start={
            list && {
              id: listId,
              label: list.label,
              width: listWidth,
              content: list.content,
              open: listOpen,
              onOpenChange: setListOpen,
            }
          }
          middle={children}
          end={end}
        />
      </div>
    </div>
  )
}

type PageColumnProps = {
  /** Maximum width: 720 px for text, 1120 px for tables. Both start at the same position. */
  width?: 'text' | 'table'
  className?: string
  children: ReactNode
}

/** Column that scrolls separately. */
export function PageScroll({ ref, ...props }: PageColumnProps & { ref?: Ref<HTMLDivElement> }) {
  return (
    <div ref={ref} className="size-full overflow-auto">
      <PageColumn {...props} />
    </div>
  )
}

/** Column of content at the same position in every screen, limited to a readable width. */
export function PageColumn({ width = 'text', className, children }: PageColumnProps) {
  return (
    <div className="mx-auto w-full max-w-292 px-6 max-narrow:px-4">
      <div className={joinClassNames(width === 'text' && 'max-w-180', className)}>{children}</div>
    </div>
  )
}
