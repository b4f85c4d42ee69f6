import { ShieldAlert, ShieldCheck, X } from 'lucide-react'
import { AddressText } from '#renderer/ui/AddressText.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { describeVerification } from './describeVerification.ts'
import type { Verified } from './useVerify.ts'

type VerifyResultProps = {
  verified: Verified
  onShow: (sequence: number) => void
  onClose: () => void
}

export function VerifyResult({ verified, onShow, onClose }: VerifyResultProps) {
  const { ok, head, problems } = verified
  const Icon = ok ? ShieldCheck : ShieldAlert
  return (
    <section
      aria-label="Verification result"
      className={joinClassNames(
        'flex items-start gap-2.5 rounded-card border border-line p-3',
        ok ? 'bg-positive-soft' : 'bg-negative-soft',
      )}
    >
      <Icon aria-hidden className={joinClassNames('mt-0.5 size-4 shrink-0', ok ? 'text-positive' : 'text-negative')} />
      <div className="min-w-0 flex-1">
        <p role={ok ? 'status' : 'alert'} className="font-medium text-text">
          {describeVerification(verified)}
        </p>
        {ok && head && (
          <div className="flex min-w-0 flex-wrap items-center gap-x-2 text-small text-muted">
            The hash of entry {head.sequence} covers all entries before it:
            <AddressText text={head.hash} label="Copy hash" />
          </div>
        )}
        {!ok && (
          <>
            <p className="text-muted">Something other than Steward changed the log file. Problems:</p>
            <ul aria-label="Damaged entries" className="mt-1.5 max-h-40 overflow-y-auto">
              {problems.map(({ sequence, problem }) => (
                <li key={sequence} className="flex items-center gap-3 py-0.5">
                  <span className="min-w-0 flex-1 break-words text-text">
                    Entry {sequence}: {problem}
                  </span>
                  <Button size="small" aria-label={`Show entry ${sequence}`} onClick={() => onShow(sequence)}>
                    Show
                  </Button>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <IconButton size="small" label="Close result" icon={X} onClick={onClose} className="-mt-0.5 -mr-1" />
    </section>
  )
}
