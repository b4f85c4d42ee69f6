import { type LinkHint, linkTarget } from './terminalLinks.ts'

/** Where a link really leads, all of it, beside the pointer. */
export function LinkHintNote({ hint, apple }: { hint: LinkHint; apple: boolean }) {
  const target = linkTarget(hint.address)
  const how = target ? `${apple ? '⌘' : 'Ctrl'}+click to open` : 'Only web and mail addresses can be opened'
  const above = hint.y > window.innerHeight / 2
  return (
    <div
      role="tooltip"
      style={{
        left: Math.max(8, Math.min(hint.x + 8, window.innerWidth - 424)),
        ...(above ? { bottom: window.innerHeight - hint.y + 12 } : { top: hint.y + 18 }),
      }}
      className="animate-fade pointer-events-none fixed z-30 max-w-104 rounded-control bg-raised px-2 py-1 text-small text-text shadow-popover"
    >
      <div className="max-h-48 overflow-hidden font-mono text-tiny break-all">{target ?? hint.address}</div>
      <div className="text-muted">{how}</div>
    </div>
  )
}
