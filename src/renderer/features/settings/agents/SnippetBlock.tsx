import { Check, Copy } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { useCopied } from '#renderer/ui/useCopied.ts'
import type { Snippet } from './snippets.ts'

export function SnippetBlock({ snippet: { title, text } }: { snippet: Snippet }) {
  const { copied, copy } = useCopied(text)
  return (
    <section aria-label={title} className="overflow-hidden rounded-card border border-line bg-panel">
      <header className="flex items-center justify-between gap-3 border-b border-line py-1.5 pr-1.5 pl-3">
        <h4 className="truncate font-mono text-small text-muted">{title}</h4>
        <Button
          size="small"
          variant="ghost"
          icon={copied ? Check : Copy}
          onClick={() => void copy()}
          aria-label={`${copied ? 'Copied' : 'Copy'} ${title}`}
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard */}
      <pre tabIndex={0} className="overflow-x-auto px-3 py-2.5 font-mono text-small text-text">
        <code>{text}</code>
      </pre>
    </section>
  )
}
