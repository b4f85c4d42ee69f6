import { Tooltip as Primitive } from 'radix-ui'
import type { FocusEvent, ReactElement, ReactNode } from 'react'
import { Kbd } from './Kbd.tsx'
import { useLayers } from './Layers.tsx'
import { isReturning } from './useFocusReturn.ts'

export function TooltipProvider({ children }: { children: ReactNode }) {
  return (
    <Primitive.Provider delayDuration={500} skipDelayDuration={200} disableHoverableContent>
      {children}
    </Primitive.Provider>
  )
}

type TooltipProps = {
  content: ReactNode
  /** Shortcut in the notation of `ui/commands/shortcuts.ts`. */
  shortcut?: string | undefined
  side?: 'top' | 'right' | 'bottom' | 'left'
  children: ReactElement
}

export function Tooltip({ content, shortcut, side = 'bottom', children }: TooltipProps) {
  return (
    <Primitive.Root>
      <Primitive.Trigger asChild onFocus={ignoreMouseFocus}>
        {children}
      </Primitive.Trigger>
      <Primitive.Portal container={useLayers()}>
        <Primitive.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="animate-fade pointer-events-none z-50 flex max-w-72 items-center gap-2 rounded-control bg-raised px-2 py-1 text-small text-text shadow-popover"
        >
          {content}
          {shortcut && <Kbd shortcut={shortcut} />}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

/** Shows the tooltip on keyboard focus only, not when focus follows a click or returns from a dialog. */
function ignoreMouseFocus(event: FocusEvent<HTMLElement>): void {
  const { currentTarget } = event
  if (!currentTarget.matches(':focus-visible') || isReturning(currentTarget)) event.preventDefault()
}
