import { Check, Copy } from 'lucide-react'
import { memo, use, useLayoutEffect, useRef } from 'react'
import { useCopied } from '#renderer/ui/useCopied.ts'
import { type CodeLines, createCodeLines } from './codeLines.ts'
import { HighlighterContext } from './highlighterContext.ts'
import { findLanguage } from './languages.ts'

type CodeBlockProps = { code: string; language: string; closed: boolean }

export const CodeBlock = memo(function CodeBlock({ code, language, closed }: CodeBlockProps) {
  const place = useRef<HTMLElement>(null)
  const drawn = useRef<CodeLines>(undefined)
  const highlighter = use(HighlighterContext)
  const { copied, copy } = useCopied(code)

  useLayoutEffect(() => {
    if (!place.current) return
    const lines = createCodeLines(place.current, (onTokens) =>
      findLanguage(language) === undefined ? undefined : highlighter?.open(language, onTokens),
    )
    drawn.current = lines
    return () => {
      lines.close()
      drawn.current = undefined
      place.current?.replaceChildren()
    }
  }, [language, highlighter])
  // Before it is painted, so that a block has its height from the start.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of language restarts highlighting
  useLayoutEffect(() => drawn.current?.show(code, closed), [code, closed, language, highlighter])

  return (
    <figure className="code-block" aria-label={language === '' ? 'Code' : `Code: ${language}`}>
      <figcaption className="flex h-8 items-center justify-between gap-2 border-b border-line pr-1 pl-3">
        <span className="truncate font-mono text-small text-muted">{language || 'text'}</span>
        <button
          type="button"
          onClick={() => void copy()}
          className="inline-flex h-6 items-center gap-1.5 rounded-small px-2 text-small text-muted hover:bg-hover hover:text-text"
        >
          {copied ? <Check aria-hidden className="size-3.5" /> : <Copy aria-hidden className="size-3.5" />}
          {copied ? 'Copied' : 'Copy'}
        </button>
      </figcaption>
      {/* Scrollable, so it must be focusable by keyboard. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard */}
      <pre tabIndex={0} className="overflow-x-auto px-3 py-2.5">
        <code ref={place} />
      </pre>
    </figure>
  )
})
