import { Check, type LucideIcon } from 'lucide-react'
import { ContextMenu as ContextPrimitive, DropdownMenu as DropdownPrimitive } from 'radix-ui'
import type { ReactElement } from 'react'
import { joinClassNames } from './classNames.ts'
import { Kbd } from './Kbd.tsx'
import { useLayers } from './Layers.tsx'

export type MenuItem =
  | 'separator'
  | {
      label: string
      icon?: LucideIcon
      shortcut?: string | undefined
      tone?: 'danger'
      /** Whether this radio item is selected. */
      checked?: boolean
      /** Whether this is a checkbox item with the state `checked`. */
      toggles?: boolean
      disabled?: boolean
      onSelect: () => void
    }

type MenuProps = {
  /** Button that opens the menu. */
  children: ReactElement
  items: readonly MenuItem[]
  align?: 'start' | 'end'
  side?: 'top' | 'right' | 'bottom' | 'left'
}

const surface = 'animate-appear z-50 min-w-48 max-w-80 rounded-card bg-raised p-1 text-text shadow-popover outline-none'

export function Menu({ children, items, align = 'start', side = 'bottom' }: MenuProps) {
  return (
    <DropdownPrimitive.Root modal={false}>
      <DropdownPrimitive.Trigger asChild>{children}</DropdownPrimitive.Trigger>
      <DropdownPrimitive.Portal container={useLayers()}>
        <DropdownPrimitive.Content align={align} side={side} sideOffset={4} collisionPadding={8} className={surface}>
          <MenuRows items={items} Row={DropdownPrimitive.Item} Divider={DropdownPrimitive.Separator} />
        </DropdownPrimitive.Content>
      </DropdownPrimitive.Portal>
    </DropdownPrimitive.Root>
  )
}

/** Menu opened by a right click or the menu key over `children`. */
export function ContextMenu({ children, items }: Pick<MenuProps, 'children' | 'items'>) {
  return (
    <ContextPrimitive.Root modal={false}>
      <ContextPrimitive.Trigger asChild>{children}</ContextPrimitive.Trigger>
      <ContextPrimitive.Portal container={useLayers()}>
        <ContextPrimitive.Content collisionPadding={8} className={surface}>
          <MenuRows items={items} Row={ContextPrimitive.Item} Divider={ContextPrimitive.Separator} />
        </ContextPrimitive.Content>
      </ContextPrimitive.Portal>
    </ContextPrimitive.Root>
  )
}

type MenuRowsProps = {
  items: readonly MenuItem[]
  Row: typeof DropdownPrimitive.Item | typeof ContextPrimitive.Item
  Divider: typeof DropdownPrimitive.Separator | typeof ContextPrimitive.Separator
}

function MenuRows({ items, Row, Divider }: MenuRowsProps) {
  return items.map((item, place) => {
    if (item === 'separator') {
      // biome-ignore lint/suspicious/noArrayIndexKey: separators have no id and keep their order
      return <Divider key={`line ${place}`} className="-mx-1 my-1 h-px bg-line" />
    }
    const { label, icon: Icon, shortcut, tone, checked, toggles = false, disabled = false, onSelect } = item
    return (
      <Row
        key={label}
        disabled={disabled}
        onSelect={onSelect}
        {...(checked !== undefined && {
          role: toggles ? 'menuitemcheckbox' : 'menuitemradio',
          'aria-checked': checked,
        })}
        className={joinClassNames(
          'flex h-7 select-none items-center gap-2 rounded-small px-2 outline-none data-disabled:opacity-50',
          tone === 'danger' ? 'text-negative data-highlighted:bg-negative-soft' : 'data-highlighted:bg-hover',
        )}
      >
        {Icon && (
          <Icon aria-hidden className={joinClassNames('size-3.5 shrink-0', tone !== 'danger' && 'text-muted')} />
        )}
        <span className="min-w-0 flex-1 truncate">{label}</span>
        {checked && <Check aria-hidden className="size-3.5 shrink-0 text-accent" />}
        {shortcut && <Kbd shortcut={shortcut} />}
      </Row>
    )
  })
}
