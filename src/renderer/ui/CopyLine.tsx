import { Check, Copy } from 'lucide-react'
import { IconButton } from './IconButton.tsx'
import { useCopied } from './useCopied.ts'

export function CopyLine({ text, label = 'Copy' }: { text: string; label?: string }) {
  const { copied, copy } = useCopied(text)
  return (
    <div className="flex h-8 items-center gap-1 rounded-control border border-line bg-panel pr-0.5 pl-2.5">
      <code className="min-w-0 flex-1 truncate font-mono text-small text-text select-all">{text}</code>
      <IconButton label={copied ? 'Copied' : label} icon={copied ? Check : Copy} onClick={() => void copy()} />
    </div>
  )
}
