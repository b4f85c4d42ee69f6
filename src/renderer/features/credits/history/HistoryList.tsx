import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import type { CreditTransaction } from '#shared/contract/credits.ts'
import { HistoryRow } from './HistoryRow.tsx'
import type { HistoryQuery } from './historyFilters.ts'
import type { HistoryPage } from './historyRows.ts'
import { useHistoryRows } from './useHistory.ts'

type HistoryListProps = {
  query: HistoryQuery
  newest: HistoryPage
  /** Element that scrolls the list and the content above it. */
  scroller: HTMLElement
  keyNames: ReadonlyMap<string, string>
  onRefund: ((charge: CreditTransaction) => void) | undefined
}

const defaultPixels = 37
const rowsBeyondView = 16

/**
 * Virtual list that renders and reads only visible transactions. One tab stop; arrow keys move between rows. The key of
 * a row is the number of older transactions, which does not change when new ones arrive.
 */
export function HistoryList({ query, newest, scroller, keyNames, onRefund }: HistoryListProps) {
  const { total } = newest
  const list = useRef<HTMLOListElement>(null)
  const top = useTopWithin(scroller, list)
  const [open, setOpen] = useState<string>()
  const [stop, setStop] = useState<number>()
  const getItemKey = (index: number) => total - 1 - index
  const stopIndex = stop === undefined ? 0 : Math.min(Math.max(0, total - 1 - stop), total - 1)

  const virtualizer = useVirtualizer({
    count: total,
    getScrollElement: () => scroller,
    getItemKey: getItemKey,
    estimateSize: () => defaultPixels,
    overscan: rowsBeyondView,
    scrollMargin: top,
    // While the user reads further down, new transactions must not move the rows.
    anchorTo: scroller.scrollTop > top ? 'end' : 'start',
    // The tab stop is always rendered, so that focus is not lost when its row leaves the viewport.
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), stopIndex])].toSorted((a, b) => a - b),
  })
  const drawn = virtualizer.getVirtualItems()
  const range = virtualizer.range ?? { startIndex: 0, endIndex: 0 }
  const { rows, error, retry } = useHistoryRows({
    ...{ query, newest },
    first: Math.max(0, range.startIndex - rowsBeyondView),
    last: Math.min(total - 1, range.endIndex + rowsBeyondView),
  })

  const onKeyDown = (event: KeyboardEvent) => {
    // Keyboard events always target an element.
    const row = (event.target as Element).closest('[data-row]')?.closest('[data-index]')
    const target = row && indexAfter(event.key, Number(row.getAttribute('data-index')), total)
    if (target === null || target === undefined) return
    event.preventDefault()
    flushSync(() => setStop(getItemKey(target)))
    virtualizer.scrollToIndex(target)
    list.current?.querySelector<HTMLElement>(`[data-index="${target}"] [data-row]`)?.focus({ preventScroll: true })
  }

  return (
    <>
      <ol
        ref={list}
        aria-label="Transactions, newest first"
        onKeyDown={onKeyDown}
        className="relative"
        style={{ height: virtualizer.getTotalSize() }}
      >
        {drawn.map(({ index, key, start }) => {
          const transaction = rows.get(index)
          const toggle = (id: string) => {
            setOpen(open === id ? undefined : id)
            setStop(getItemKey(index))
          }
          return (
            <li
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              aria-posinset={index + 1}
              aria-setsize={total}
              className={joinClassNames(
                'absolute inset-x-0 top-0 border-line',
                index > 0 && 'border-t',
                transaction && open === transaction.id && 'bg-panel',
              )}
              style={{ transform: `translateY(${start - top}px)` }}
            >
              <HistoryRow
                transaction={transaction}
                keyNames={keyNames}
                isOpen={transaction !== undefined && open === transaction.id}
                isTabStop={index === stopIndex}
                onToggle={toggle}
                onRefund={onRefund}
              />
            </li>
          )
        })}
      </ol>
      {error && (
        <div className="sticky bottom-0 p-3">
          <ErrorNotice error={error} onRetry={retry} />
        </div>
      )}
    </>
  )
}

/** Measures the offset of an element within its scroller, including when content above it grows. */
function useTopWithin(scroller: HTMLElement, element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      const own = element.current?.getBoundingClientRect().top ?? 0
      setTop(Math.round(own - scroller.getBoundingClientRect().top + scroller.scrollTop))
    }
    measure()
    const observer = new ResizeObserver(measure)
    for (const content of scroller.children) observer.observe(content)
    return () => observer.disconnect()
  }, [scroller, element])
  return top
}

function indexAfter(key: string, index: number, count: number): number | undefined {
  if (key === 'ArrowDown') return Math.min(index + 1, count - 1)
  if (key === 'ArrowUp') return Math.max(index - 1, 0)
  if (key === 'Home') return 0
  if (key === 'End') return count - 1
  return undefined
}
