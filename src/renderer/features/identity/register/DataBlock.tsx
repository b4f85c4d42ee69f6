import { Check, Copy } from 'lucide-react'
import { DataText, formatJson } from '#renderer/ui/DataText.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { useCopied } from '#renderer/ui/useCopied.ts'

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
      <DataText
        name={`${title}, its text`}
        text={isJson ? formatJson(text) : text}
        className="max-h-80 rounded-card border border-line bg-panel"
      />
    </section>
  )
}
