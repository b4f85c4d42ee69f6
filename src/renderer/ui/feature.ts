import type { LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'
import type { Command } from './commands/commandRegistry.tsx'

/**
 * Section of the window. For all sections except the first, `Screen` is a `lazy` component, so that the first section
 * loads independently.
 */
export type Feature = {
  id: string
  title: string
  icon: LucideIcon
  /** Letter that opens the section when pressed after `G`, unless a text field has the focus. */
  letter: string
  /** Synonyms for the palette's search. */
  keywords?: readonly string[]
  Screen: ComponentType
  /**
   * Commands available on every screen. Commands that need the feature's state are registered by its screen with
   * `useCommands`.
   */
  commands?: readonly Command[]
  /** Hook that returns the badge of the section's button, which counts items that require the user's attention. */
  useBadge?: () => Badge | undefined
  /** Component above every screen while the window is open, for information that is relevant in all sections. */
  Everywhere?: ComponentType
  /** Component in the status bar of every screen. */
  Status?: ComponentType
}

export type Badge = {
  count: number
  /** Announced after the section's title, such as `2 wait for you`. */
  words: string
}
