import type { LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'
import type { Command } from './commands/commandRegistry.tsx'

/** A section of the window. Of all but the first one, `Screen` is a `lazy` component, so that the first waits for no other. */
export type Feature = {
  id: string
  title: string
  icon: LucideIcon
  /** `G`, then this letter, goes there from wherever no text is written. */
  letter: string
  /** Synonyms for the palette's search. */
  keywords?: readonly string[]
  Screen: ComponentType
  /** Offered on every screen; what needs the feature's own state is offered by its screen with `useCommands`. */
  commands?: readonly Command[]
  /** A hook: how many things of this section wait for the person, for its button at the side. */
  useBadge?: () => Badge | undefined
  /** Above every screen, as long as the window is open: what the person must know wherever they are. */
  Everywhere?: ComponentType
  /** In the line of state below every screen. */
  Status?: ComponentType
}

export type Badge = {
  count: number
  /** Read aloud after the section's title: `2 wait for you`. */
  words: string
}
