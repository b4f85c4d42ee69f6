import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { copyText } from './copyText.ts'
import { IconButton } from './IconButton.tsx'

/** A line to be copied: a command, an address. */
export function CopyLine({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <div className="flex h-8 items-center gap-1 rounded-control border border-line bg-panel pr-0.5 pl-2.5">
      <code className="min-w-0 flex-1 truncate font-mono text-small text-text select-all">{text}</code>
      <IconButton
        label={copied ? 'Copied' : label}
        icon={copied ? Check : Copy}
        onClick={() => void copyText(text).then(setCopied)}
      />
    </div>
  )
}
