import { Check, ChevronRight, Copy } from 'lucide-react'
import { useState } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { DataText, formatJson } from '#renderer/ui/DataText.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { useCopied } from '#renderer/ui/useCopied.ts'

/** The very bytes, for who wants to read them; folded away at first. */
export function RawData({ text }: { text: string }) {
  const [open, setOpen] = useState(false)
  const { copied, copy } = useCopied(text)
  return (
    <section aria-label="Raw data" className="rounded-card border border-line">
      <header className="flex h-9 items-center pr-1.5">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex h-full min-w-0 flex-1 items-center gap-1.5 rounded-card px-2.5 text-left font-medium hover:bg-hover"
        >
          <ChevronRight
            aria-hidden
            className={joinClassNames('size-3.5 text-faint transition-transform duration-100', open && 'rotate-90')}
          />
          Raw data
        </button>
        {open && (
          <IconButton
            label={copied ? 'Copied' : 'Copy raw data'}
            icon={copied ? Check : Copy}
            onClick={() => void copy()}
          />
        )}
      </header>
      {open && <DataText name="Data" text={formatJson(text)} className="max-h-90 border-t border-line" />}
    </section>
  )
}
