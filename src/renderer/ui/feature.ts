import type { LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'
import type { Command } from './commands/commandRegistry.tsx'

/** A section of the window. Of all but the first one, `Screen` is a `lazy` component, so that the first waits for no other. */
export type Feature = {
  id: string
  title: string
  icon: LucideIcon
  Screen: ComponentType
  /** Offered on every screen; what needs the feature's own state is offered by its screen with `useCommands`. */
  commands?: readonly Command[]
}
