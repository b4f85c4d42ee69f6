import { createContext } from 'react'
import type { Highlighter } from './highlighter.ts'

/** Of the `HighlighterProvider` above; without one, code is plain. */
export const HighlighterContext = createContext<Highlighter | undefined>(undefined)
