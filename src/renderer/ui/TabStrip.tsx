import { ChevronDown, ChevronLeft, ChevronRight } from 'lucide-react'
import { type DragEvent, type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { joinClassNames } from './classNames.ts'
import { IconButton } from './IconButton.tsx'
import { Menu } from './Menu.tsx'
import { TabButton } from './TabButton.tsx'
import { TabNameField } from './TabNameField.tsx'
import type { TabStripProps } from './tab.ts'
import { useTabDrop } from './useTabDrop.ts'

type TabOverflow = { any: boolean; start: boolean; end: boolean }

/** Share of the visible width to scroll by. Some tabs remain visible for orientation. */
const scrolledPart = 0.7

export function TabStrip({
  label,
  tabs,
  value,
  onChange,
  onClose,
  rename,
  drag,
  wrap,
  actions,
  start,
  end,
  head = false,
}: TabStripProps) {
  const list = useRef<HTMLDivElement>(null)
  const overflow = useOverflow(list, tabs.length)
  const drop = useTabDrop({ drag, onRest: onChange })

  useLayoutEffect(() => {
    const present = list.current?.querySelector(`[data-tab="${CSS.escape(value)}"]`)
    present?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [value])

  const scroll = (way: -1 | 1) =>
    list.current?.scrollBy({ left: way * list.current.clientWidth * scrolledPart, behavior: 'smooth' })

  const onKeyDown = (event: KeyboardEvent) => {
    const place = tabs.findIndex(({ id }) => id === value)
    const next = tabs[placeAfter(event.key, place, tabs.length)]
    if (!next) return
    event.preventDefault()
    onChange(next.id)
    list.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(next.id)}"] [role="tab"]`)?.focus()
  }

  return (
    <div
      className={joinClassNames(
        'relative flex shrink-0 items-stretch border-b border-line bg-panel',
        head ? 'h-11' : 'h-9',
      )}
    >
      {start && <div className="flex shrink-0 items-center border-r border-line px-1.5">{start}</div>}
      <div
        ref={list}
        role="tablist"
        aria-label={label}
        tabIndex={-1}
        onKeyDown={onKeyDown}
        onWheel={({ deltaX, deltaY, currentTarget }) => {
          if (deltaX === 0) currentTarget.scrollLeft += deltaY
        }}
        {...drop.handlers}
        className="flex min-w-0 items-stretch overflow-x-auto overflow-y-hidden [scrollbar-width:none]"
      >
        {tabs.map((tab, place) => {
          const button = (
            <TabButton
              tab={tab}
              selected={tab.id === value}
              onShow={() => onChange(tab.id)}
              {...(onClose && { onClose: () => onClose(tab.id) })}
              {...(rename && { onRename: () => rename.onBegin(tab.id) })}
              {...(drag && {
                onDragStart: (event: DragEvent) => drag.onStart(tab.id, event.dataTransfer),
                onDragEnd: () => {
                  drop.leave()
                  drag.onEnd()
                },
              })}
            />
          )
          return (
            <div key={tab.id} role="presentation" data-tab={tab.id} className="relative flex shrink-0">
              {wrap ? wrap(tab, button) : button}
              {drag?.active && drop.dropPlace === place && <DropLine at="start" />}
              {drag?.active && drop.dropPlace === place + 1 && place === tabs.length - 1 && <DropLine at="end" />}
            </div>
          )
        })}
      </div>
      {overflow.any && <OverflowButtons {...{ tabs, value, onChange, overflow }} onScroll={scroll} />}
      {actions && <div className="flex shrink-0 items-center gap-0.5 px-1.5">{actions}</div>}
      {end && <div className="ml-auto flex shrink-0 items-center gap-0.5 px-1.5">{end}</div>}
      {rename?.id !== undefined && (
        <TabNameField
          key={rename.id}
          over={() => list.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(rename.id ?? '')}"]`)}
          name={rename.nameOf(rename.id)}
          onDone={rename.onDone}
          onCancel={rename.onCancel}
        />
      )}
    </div>
  )
}

type OverflowButtonsProps = Pick<TabStripProps, 'tabs' | 'value' | 'onChange'> & {
  overflow: TabOverflow
  onScroll: (way: -1 | 1) => void
}

/** Scroll buttons, shown if not all tabs fit. */
function OverflowButtons({ tabs, value, onChange, overflow, onScroll }: OverflowButtonsProps) {
  return (
    <div className="flex shrink-0 items-center border-l border-line pl-1">
      <IconButton
        label="Earlier tabs"
        icon={ChevronLeft}
        size="small"
        disabled={!overflow.start}
        onClick={() => onScroll(-1)}
      />
      <IconButton
        label="Later tabs"
        icon={ChevronRight}
        size="small"
        disabled={!overflow.end}
        onClick={() => onScroll(1)}
      />
      <Menu
        align="end"
        items={tabs.map(({ id, label: name }) => ({
          label: name,
          checked: id === value,
          onSelect: () => onChange(id),
        }))}
      >
        <IconButton label="All tabs" icon={ChevronDown} size="small" />
      </Menu>
    </div>
  )
}

function DropLine({ at }: { at: 'start' | 'end' }) {
  return (
    <span
      aria-hidden
      className={`pointer-events-none absolute inset-y-0 z-10 w-0.5 bg-accent ${at === 'start' ? 'left-0' : 'right-0'}`}
    />
  )
}

function placeAfter(key: string, place: number, count: number): number {
  if (key === 'ArrowRight') return (place + 1) % count
  if (key === 'ArrowLeft') return (place - 1 + count) % count
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : -1
}

/** Whether a row overflows, and on which side. */
function useOverflow(row: RefObject<HTMLElement | null>, count: number): TabOverflow {
  const [overflow, setOverflow] = useState<TabOverflow>({ any: false, start: false, end: false })

  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the number of tabs requires a new measurement
  useLayoutEffect(() => {
    const element = row.current
    if (!element) return
    const measure = () => {
      const { scrollLeft, clientWidth, scrollWidth } = element
      const next = {
        any: scrollWidth > clientWidth + 1,
        start: scrollLeft > 1,
        end: scrollLeft + clientWidth < scrollWidth - 1,
      }
      setOverflow((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [row, count])

  return overflow
}
