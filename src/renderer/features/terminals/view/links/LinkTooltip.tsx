import { isOnLocalNetwork, type LinkTarget } from './parseLinkTarget.ts'
import type { LinkHint } from './terminalLinks.ts'

export function LinkTooltip({ hint: { text, target, x, y }, apple }: { hint: LinkHint; apple: boolean }) {
  const how = target ? `${apple ? '⌘' : 'Ctrl'}+click to open` : 'This cannot be opened from here'
  const above = y > window.innerHeight / 2
  return (
    <div
      role="tooltip"
      style={{
        left: Math.max(8, Math.min(x + 8, window.innerWidth - 424)),
        ...(above ? { bottom: window.innerHeight - y + 12 } : { top: y + 18 }),
      }}
      className="animate-fade pointer-events-none fixed z-30 max-w-104 rounded-control bg-raised px-2 py-1 text-small text-text shadow-popover"
    >
      <div className="max-h-48 overflow-hidden font-mono text-tiny break-all">
        {target ? describeTarget(target) : text}
      </div>
      {target?.kind === 'address' && isOnLocalNetwork(target.href) && (
        <div className="text-caution">On your network</div>
      )}
      <div className="text-muted">{how}</div>
    </div>
  )
}

function describeTarget(target: LinkTarget): string {
  switch (target.kind) {
    case 'address':
      return target.href
    case 'port':
      return `Port ${target.port} of this sandbox${target.path === '/' ? '' : `: ${target.path}`}`
    case 'file':
      return [target.path, target.line, target.column].filter((it) => it !== undefined).join(':')
  }
}
