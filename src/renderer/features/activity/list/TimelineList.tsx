import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowUp } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { PageColumn } from '#renderer/ui/PageFrame.tsx'
import type { TimelineEntry } from '#shared/contract/timeline.ts'
import { TimelineRowView } from './TimelineRowView.tsx'
import { buildTimelineItems, type RequestStates } from './timelineItems.ts'

type TimelineListProps = {
  entries: readonly TimelineEntry[]
  requestStates: RequestStates
  /** Entry to scroll to when the list opens. */
  sought: number | undefined
  hasMore: boolean
  onMore: () => void
}

const heights = { day: 36, row: 32 } as const
const rowsBeyondView = 16
/** Maximum scroll offset at which the newest entries count as visible. */
const atTopPixels = 24

/**
 * List of activity with one tab stop: arrow keys move between rows, Enter expands a row. New entries are withheld while
 * the user reads.
 */
export function TimelineList({ entries, requestStates, sought, hasMore, onMore }: TimelineListProps) {
  const place = useRef<HTMLDivElement>(null)
  const { visible, waiting, setReading } = useReadingPause(entries)
  const items = buildTimelineItems(visible, new Date(), requestStates)
  const rows = items.flatMap((item) => (item.kind === 'row' ? [item.row] : []))
  const soughtRow = rows.find((row) => row.entries.some(({ sequence }) => sequence === sought))?.key
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set(soughtRow === undefined ? [] : [soughtRow]))
  const [stop, setStop] = useState(soughtRow)

  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => place.current,
    getItemKey: (index) => items[index]?.key ?? index,
    estimateSize: (index) => heights[items[index]?.kind ?? 'row'],
    overscan: rowsBeyondView,
  })
  const drawn = virtualizer.getVirtualItems()
  const lastDrawn = drawn.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && lastDrawn >= items.length - rowsBeyondView) onMore()
  }, [hasMore, lastDrawn, items.length, onMore])

  const read = (opened: ReadonlySet<string>) => {
    setReading(opened.size > 0 || (place.current?.scrollTop ?? 0) > atTopPixels)
  }
  const toggle = (key: string) => {
    const next = new Set(open)
    if (!next.delete(key)) next.add(key)
    setOpen(next)
    setStop(key)
    read(next)
  }
  const showNewest = () => {
    setOpen(new Set())
    setReading(false)
    virtualizer.scrollToOffset(0)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Keyboard events always target an element.
    const row = (event.target as Element).closest('[data-row]')?.closest('[data-index]')
    const target = row ? findRowAfter(event.key, Number(row.getAttribute('data-index')), items) : undefined
    if (target === undefined) return
    event.preventDefault()
    const item = items[target]
    if (item?.kind === 'row') setStop(item.key)
    virtualizer.scrollToIndex(target === 1 ? 0 : target) // includes the day heading above the first row
    focusRow(place, target)
  }

  const visibleStop = rows.some(({ key }) => key === stop) ? stop : rows[0]?.key
  return (
    <div className="relative size-full">
      <div ref={place} className="h-full overflow-y-auto pb-6" onScroll={() => read(open)} data-timeline>
        <PageColumn width="table">
          <ol
            aria-label="Activity, newest first"
            onKeyDown={onKeyDown}
            className="relative -mx-2.5"
            style={{ height: virtualizer.getTotalSize() }}
          >
            {drawn.map(({ index, key, start }) => {
              const item = items[index]
              return (
                item && (
                  <li
                    key={key}
                    ref={virtualizer.measureElement}
                    data-index={index}
                    className="absolute inset-x-0 top-0"
                    style={{ transform: `translateY(${start}px)` }}
                  >
                    {item.kind === 'day' ? (
                      <h2 className="px-2.5 pt-4 pb-1 text-small font-medium text-muted">{item.label}</h2>
                    ) : (
                      <TimelineRowView
                        row={item.row}
                        isOpen={open.has(item.key)}
                        isTabStop={item.key === visibleStop}
                        isSought={item.key === soughtRow}
                        onToggle={() => toggle(item.key)}
                      />
                    )}
                  </li>
                )
              )
            })}
          </ol>
        </PageColumn>
      </div>
      {waiting > 0 && <NewEntriesButton count={waiting} onClick={showNewest} />}
    </div>
  )
}

/** Withholds entries that arrive while the user reads, so that rows do not move. `waiting` is their number. */
function useReadingPause(entries: readonly TimelineEntry[]) {
  /** Highest sequence in the list when the user started reading. While undefined, entries appear as they arrive. */
  const [frozenAt, setFrozenAt] = useState<number>()
  // The list is sorted by time, so the first entry does not necessarily have the highest sequence.
  const newest = entries.reduce((highest, { sequence }) => Math.max(highest, sequence), 0)
  const visible = frozenAt === undefined ? entries : entries.filter(({ sequence }) => sequence <= frozenAt)
  return {
    visible,
    waiting: entries.length - visible.length,
    setReading: (isReading: boolean) => setFrozenAt((prev) => (isReading ? (prev ?? newest) : undefined)),
  }
}

function NewEntriesButton({ count, onClick }: { count: number; onClick: () => void }) {
  return (
    <Button
      size="small"
      icon={ArrowUp}
      onClick={onClick}
      className="animate-appear absolute! top-2 left-1/2 -translate-x-1/2 rounded-full! shadow-popover"
    >
      {count === 1 ? '1 new entry' : `${count} new entries`}
    </Button>
  )
}

/** Focuses a row once it is rendered, retrying for a few frames. */
function focusRow(list: RefObject<HTMLElement | null>, index: number, tries = 10): void {
  const row = list.current?.querySelector<HTMLElement>(`[data-index="${index}"] [data-row]`)
  if (row) row.focus()
  else if (tries > 0) requestAnimationFrame(() => focusRow(list, index, tries - 1))
}

type Items = ReturnType<typeof buildTimelineItems>

function findRowAfter(key: string, from: number, items: Items): number | undefined {
  const isRow = (index: number) => items[index]?.kind === 'row'
  const step = { ArrowDown: 1, ArrowUp: -1 }[key]
  if (key === 'Home') return items.findIndex((_, index) => isRow(index))
  if (key === 'End') return items.length - 1
  if (step === undefined) return undefined
  for (let index = from + step; index >= 0 && index < items.length; index += step) if (isRow(index)) return index
  return from
}
