import { type ReactNode, useEffect, useState } from 'react'
import { createHighlighter } from './highlighter.ts'
import { HighlighterContext } from './highlighterContext.ts'

/** One thread that highlights all that is below, begun with the first block of code. */
export function HighlighterProvider({ children }: { children: ReactNode }) {
  const [shared] = useState(() =>
    createHighlighter(() => new Worker(new URL('./highlightWorker.ts', import.meta.url), { type: 'module' })),
  )
  useEffect(() => shared.close, [shared])
  return <HighlighterContext value={shared}>{children}</HighlighterContext>
}
