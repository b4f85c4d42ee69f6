import { Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { describeUnenforced } from '#renderer/ui/sandboxes/sandboxLabels.ts'
import type { RuntimeReport } from '#shared/contract/sandboxes.ts'
import { Cure, LimitGaps } from '../LimitGaps.tsx'

type RuntimeNoticeProps = { runtimes: readonly RuntimeReport[]; runtime: RuntimeReport | undefined }

/** Notice about a missing runtime, or limits that it cannot enforce on this computer. */
export function RuntimeNotice({ runtimes, runtime }: RuntimeNoticeProps) {
  if (!runtime?.available) {
    const lacking = runtime ? [runtime] : runtimes
    return (
      <Notice tone="caution">
        <p className="font-medium text-text">This computer cannot run sandboxes yet.</p>
        {lacking.map(({ name, detail, cure }) => (
          <div key={name}>
            <p>
              {name}: {detail}
            </p>
            <Cure command={cure} />
          </div>
        ))}
      </Notice>
    )
  }
  const notEnforced = describeUnenforced(runtime.enforced)
  const { network_detail: noNetwork, network_cure: networkCure, networks } = runtime
  const isAlone = noNetwork !== null && networks.length < 2
  if (notEnforced === undefined && !isAlone) return null
  return (
    <Notice tone="quiet">
      {notEnforced !== undefined && (
        <p>Not enforced on this computer: {notEnforced}. A sandbox can use more than its limit.</p>
      )}
      <LimitGaps gaps={runtime.limit_gaps} />
      {isAlone && (
        <>
          <p>{noNetwork}</p>
          <Cure command={networkCure} />
        </>
      )}
    </Notice>
  )
}

function Notice({ tone, children }: { tone: 'caution' | 'quiet'; children: ReactNode }) {
  const Icon = tone === 'caution' ? TriangleAlert : Info
  return (
    <div
      role="note"
      className={joinClassNames(
        'flex items-start gap-2.5 rounded-card border border-line p-3 text-small text-muted',
        tone === 'caution' ? 'bg-caution-soft' : 'bg-panel',
      )}
    >
      <Icon aria-hidden className={joinClassNames('mt-px size-3.5 shrink-0', tone === 'caution' && 'text-caution')} />
      <div className="min-w-0 flex-1 break-words">{children}</div>
    </div>
  )
}
