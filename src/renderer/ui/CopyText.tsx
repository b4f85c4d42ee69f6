import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { IconButton } from './IconButton.tsx'
import { notify } from './toast.tsx'

/** A line to be copied: a command, an address. */
export function CopyText({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch (error) {
      notify.failed(error, { title: 'The text could not be copied. Select it and copy it by hand.' })
    }
  }
  return (
    <div className="flex h-8 items-center gap-1 rounded-control border border-line bg-panel pr-0.5 pl-2.5">
      <code className="min-w-0 flex-1 truncate font-mono text-small text-text select-all">{text}</code>
      <IconButton label={copied ? 'Copied' : label} icon={copied ? Check : Copy} onClick={() => void copy()} />
    </div>
  )
}
