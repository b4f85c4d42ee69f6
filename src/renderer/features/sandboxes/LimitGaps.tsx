import type { LimitGap } from '#shared/contract/sandboxes.ts'
import { CopyLine } from '../../ui/CopyLine.tsx'

/** Limits that cannot be enforced on this computer, each with its reason and a fix. */
export function LimitGaps({ gaps }: { gaps: readonly LimitGap[] }) {
  return gaps.map(({ limit, reason, cure }) => (
    <div key={limit}>
      <p>{reason}</p>
      <Cure command={cure} />
    </div>
  ))
}

export function Cure({ command }: { command: string | null }) {
  if (command === null) return null
  return (
    <div className="py-1">
      <CopyLine text={command} label="Copy command" />
    </div>
  )
}
