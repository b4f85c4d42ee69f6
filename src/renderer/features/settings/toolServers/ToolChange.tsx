import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import type { UntrustedText } from '#shared/contract/toolServers.ts'
import { diffLines } from './describeToolServer.ts'

type ToolChangeProps = { name: string; before: UntrustedText; after: UntrustedText; actions: ReactNode }

const looks = {
  '+': 'bg-positive-soft text-positive',
  '−': 'bg-negative-soft text-negative',
  ' ': 'text-muted',
} as const

/** Diff between the tool description that the user allowed and the current one. */
export function ToolChange({ name, before, after, actions }: ToolChangeProps) {
  const lines = diffLines(before, after)
  const isHidden = lines.every(({ sign }) => sign === ' ')
  return (
    <div className="overflow-hidden rounded-card border border-caution">
      <div className="flex flex-wrap items-center gap-2 bg-caution-soft px-2.5 py-2">
        <TriangleAlert aria-hidden className="size-4 shrink-0 text-caution" />
        <p className="min-w-40 flex-1">
          {isHidden
            ? 'The server changed something that is not shown here, so the tool is off. Review it before allowing it again.'
            : 'The server changed this tool after you allowed it, so it is off. Review it before allowing it again.'}
        </p>
        {actions}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a group of content, not of form fields */}
      <pre
        // Scrolls by itself, so the keyboard must reach it.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        tabIndex={0}
        role="group"
        aria-label={`Changes to ${name}`}
        className="max-h-80 overflow-auto py-1.5 font-mono text-small break-words whitespace-pre-wrap"
      >
        {lines.map(({ sign, text }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id and keep their order
          <span key={at} className={joinClassNames('block px-2.5', looks[sign])}>{`${sign} ${text}`}</span>
        ))}
      </pre>
    </div>
  )
}
