import { X } from 'lucide-react'
import { Tabs as Primitive } from 'radix-ui'
import type { KeyboardEvent, ReactElement, ReactNode } from 'react'
import { classNames } from './classNames.ts'

export type Tab = {
  id: string
  label: string
  /** Before the label; `StatusDot` or an icon. */
  mark?: ReactNode
  /** Shown by the browser when the pointer rests on it. */
  title?: string
}

type TabsProps = {
  /** What the tabs are of, read aloud: `Terminals of build-box`. */
  label: string
  tabs: readonly Tab[]
  value: string
  onChange: (id: string) => void
  /** Tabs get a cross, and Delete closes the one that has the focus. */
  onClose?: (id: string) => void
  /** Wraps a tab, for instance with `ContextMenu`. The child must be the element given. */
  wrap?: (tab: Tab, element: ReactElement) => ReactElement
  /** Right of the tabs. */
  actions?: ReactNode
  /** At the right end of the row. */
  end?: ReactNode
  /** `TabPanel`s. */
  children: ReactNode
}

export function Tabs({ label, tabs, value, onChange, onClose, wrap, actions, end, children }: TabsProps) {
  return (
    <Primitive.Root value={value} onValueChange={onChange} className="flex size-full min-h-0 min-w-0 flex-col">
      <div className="flex h-9 shrink-0 items-stretch border-b border-line bg-panel">
        <Primitive.List
          aria-label={label}
          className="flex min-w-0 items-stretch overflow-x-auto overflow-y-hidden [scrollbar-width:none]"
        >
          {tabs.map((tab) => {
            const element = <TabButton tab={tab} {...(onClose && { onClose })} />
            return (
              <div key={tab.id} role="presentation" className="flex shrink-0">
                {wrap ? wrap(tab, element) : element}
              </div>
            )
          })}
        </Primitive.List>
        {actions && <div className="flex shrink-0 items-center gap-0.5 px-1.5">{actions}</div>}
        {end && <div className="ml-auto flex shrink-0 items-center gap-0.5 px-1.5">{end}</div>}
      </div>
      <div className="relative min-h-0 flex-1">{children}</div>
    </Primitive.Root>
  )
}

type TabPanelProps = {
  id: string
  /** Stays drawn while another tab is shown, so that nothing in it starts anew. */
  kept?: boolean
  children: ReactNode
}

export function TabPanel({ id, kept = false, children }: TabPanelProps) {
  return (
    <Primitive.Content
      value={id}
      {...(kept && { forceMount: true as const })}
      tabIndex={-1}
      className="absolute inset-0 outline-none data-[state=inactive]:invisible"
    >
      {children}
    </Primitive.Content>
  )
}

type TabButtonProps = { tab: Tab; onClose?: (id: string) => void }

function TabButton({ tab: { id, label, mark, title }, onClose, ...rest }: TabButtonProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Delete' || !onClose) return
    event.preventDefault()
    onClose(id)
  }
  return (
    <div
      {...rest}
      role="presentation"
      onAuxClick={(event) => event.button === 1 && onClose?.(id)}
      className={classNames(
        'group relative flex max-w-52 items-stretch border-r border-line text-muted hover:text-text',
        'has-data-[state=active]:bg-canvas has-data-[state=active]:text-text',
        'has-data-[state=active]:after:absolute has-data-[state=active]:after:inset-x-0 has-data-[state=active]:after:-bottom-px has-data-[state=active]:after:h-px has-data-[state=active]:after:bg-canvas',
      )}
    >
      <Primitive.Trigger
        value={id}
        title={title}
        onKeyDown={onKeyDown}
        className={classNames(
          'flex min-w-0 items-center gap-2 pl-3 focus-visible:-outline-offset-2',
          onClose ? 'pr-7' : 'pr-3',
        )}
      >
        {mark}
        <span className="truncate">{label}</span>
      </Primitive.Trigger>
      {onClose && (
        // For the pointer only: by keyboard it is Delete, and a tab list may hold nothing but tabs.
        <span
          aria-hidden
          onPointerDown={(event) => event.stopPropagation()}
          onClick={() => onClose(id)}
          className="absolute top-1/2 right-1.5 flex size-5 -translate-y-1/2 items-center justify-center rounded-small opacity-0 group-hover:opacity-100 group-has-data-[state=active]:opacity-100 hover:bg-hover"
        >
          <X className="size-3.5" />
        </span>
      )}
    </div>
  )
}
