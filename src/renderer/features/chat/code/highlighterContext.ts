import { createContext } from 'react'
import type { Highlighter } from './highlighter.ts'

/** Provided by `HighlighterProvider`. Code stays plain without a provider. */
export const HighlighterContext = createContext<Highlighter | undefined>(undefined)
