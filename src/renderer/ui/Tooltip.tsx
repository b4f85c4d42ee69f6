import { Tooltip as Primitive } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'
import { Kbd } from './Kbd.tsx'
import { useLayers } from './Layers.tsx'

export function TooltipProvider({ children }: { children: ReactNode }) {
  return (
    <Primitive.Provider delayDuration={500} skipDelayDuration={200}>
      {children}
    </Primitive.Provider>
  )
}

type TooltipProps = {
  content: ReactNode
  /** In the notation of `ui/commands/shortcuts.ts`. */
  shortcut?: string | undefined
  side?: 'top' | 'right' | 'bottom' | 'left'
  children: ReactElement
}

export function Tooltip({ content, shortcut, side = 'bottom', children }: TooltipProps) {
  return (
    <Primitive.Root>
      <Primitive.Trigger asChild>{children}</Primitive.Trigger>
      <Primitive.Portal container={useLayers()}>
        <Primitive.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="animate-fade z-50 flex max-w-72 items-center gap-2 rounded-control bg-raised px-2 py-1 text-small text-text shadow-popover"
        >
          {content}
          {shortcut && <Kbd shortcut={shortcut} />}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
