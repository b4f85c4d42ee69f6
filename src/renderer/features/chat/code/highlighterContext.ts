import { createContext } from 'react'
import type { Highlighter } from './highlighter.ts'

/** Provided by `HighlighterProvider`; by default, code is plain. */
export const HighlighterContext = createContext<Highlighter | undefined>(undefined)
