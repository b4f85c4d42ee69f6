import { isWebAddress, type LinkHint } from './terminalLinks.ts'

/** Where a link really leads, beside the pointer. */
export function LinkHintNote({ hint, apple }: { hint: LinkHint; apple: boolean }) {
  const how = isWebAddress(hint.address) ? `${apple ? '⌘' : 'Ctrl'}+click to open` : 'Only web addresses can be opened'
  return (
    <div
      role="tooltip"
      style={{ left: Math.min(hint.x + 8, window.innerWidth - 320), top: hint.y + 18 }}
      className="animate-fade pointer-events-none fixed z-30 max-w-76 rounded-control bg-raised px-2 py-1 text-small text-text shadow-popover"
    >
      <div className="truncate font-mono text-tiny">{hint.address}</div>
      <div className="text-muted">{how}</div>
    </div>
  )
}
