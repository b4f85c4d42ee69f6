import { Button } from '#renderer/ui/Button.tsx'
import { useObservable } from '../observable.ts'
import type { TerminalPaste } from './terminalPaste.ts'

const sizes = new Intl.NumberFormat('en', { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 })
const megabyte = 1_000_000

/** Progress of a long paste. */
export function PasteBar({ paste }: { paste: TerminalPaste }) {
  const progress = useObservable(paste.progress)
  if (!progress) return null
  const { arrived, whole } = progress
  return (
    <section
      aria-label="Pasting"
      className="animate-delayed absolute right-5 bottom-3 z-10 flex h-9 items-center gap-3 rounded-full bg-raised pr-1.5 pl-3.5 text-small text-muted shadow-popover"
    >
      <span className="tabular-nums">
        Pasting {sizes.format(arrived / megabyte)} of {sizes.format(whole / megabyte)}
      </span>
      <progress aria-label="Pasted" value={arrived} max={whole} className="h-1 w-24" />
      <Button size="small" variant="ghost" className="h-6 rounded-full" onClick={paste.stop}>
        Stop
      </Button>
    </section>
  )
}
