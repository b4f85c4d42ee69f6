import { type ReactNode, useEffect, useState } from 'react'
import { createHighlighter } from './highlighter.ts'
import { HighlighterContext } from './highlighterContext.ts'

/** Provides one highlighting worker to all descendants, started with the first code block. */
export function HighlighterProvider({ children }: { children: ReactNode }) {
  const [shared] = useState(() =>
    createHighlighter(() => new Worker(new URL('./highlightWorker.ts', import.meta.url), { type: 'module' })),
  )
  useEffect(() => shared.close, [shared])
  return <HighlighterContext value={shared}>{children}</HighlighterContext>
}
