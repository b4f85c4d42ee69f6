import { X } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { describeError } from '#renderer/ui/describeError.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { goTo } from '#renderer/ui/route.ts'
import { AppError } from '#shared/appError.ts'

type SendFailureProps = { failure: unknown; onClose: () => void; onLimits: () => void }

/** Reason why a message was not sent, and a remedy. The draft is preserved. */
export function SendFailure({ failure, onClose, onLimits }: SendFailureProps) {
  const { message, hint } = describeError(failure)
  const code = failure instanceof AppError ? failure.code : undefined
  return (
    <div
      role="alert"
      className="mb-2 flex flex-wrap items-start gap-2.5 rounded-card border border-line bg-negative-soft p-3"
    >
      <div className="min-w-48 flex-1">
        <p className="font-medium break-words">{message}</p>
        <p className="text-muted">{hint}</p>
      </div>
      {code === 'budget/exceeded' && (
        <Button size="small" onClick={onLimits}>
          Change limits
        </Button>
      )}
      {code === 'inference/unconfigured' && (
        <Button size="small" onClick={() => goTo('settings', 'models')}>
          Add a key
        </Button>
      )}
      {code === 'inference/credits' && (
        <Button size="small" onClick={() => goTo('credits')}>
          Open Credits
        </Button>
      )}
      <IconButton size="small" label="Dismiss" icon={X} onClick={onClose} />
    </div>
  )
}
