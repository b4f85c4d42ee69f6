import { Check, Copy } from 'lucide-react'
import { IconButton } from '../../../ui/IconButton.tsx'
import { useCopied } from '../../../ui/useCopied.ts'

type DataBlockProps = {
  title: string
  hint: string
  text: string
  /** Shown over several lines; what is copied stays as it is. */
  isJson?: boolean
}

export function DataBlock({ title, hint, text, isJson = false }: DataBlockProps) {
  const { copied, copy } = useCopied(text)
  return (
    <section aria-label={title}>
      <header className="flex items-end justify-between gap-2 pb-1.5">
        <div>
          <h3 className="font-medium">{title}</h3>
          <p className="text-small text-faint">{hint}</p>
        </div>
        <IconButton
          label={copied ? 'Copied' : `Copy ${title.toLowerCase()}`}
          icon={copied ? Check : Copy}
          onClick={() => void copy()}
        />
      </header>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        aria-label={`${title}, its text`}
        className="max-h-80 overflow-auto rounded-card border border-line bg-panel px-3.5 py-2.5"
      >
        <pre className="font-mono text-small break-all whitespace-pre-wrap">{isJson ? pretty(text) : text}</pre>
      </section>
    </section>
  )
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text // shown as it is
  }
}
