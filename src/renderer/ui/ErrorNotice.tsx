import { LogIn, RotateCw, TriangleAlert } from 'lucide-react'
import { AppError } from '#shared/appError.ts'
import { useWallet } from '../api/useWallet.ts'
import { Button } from './Button.tsx'
import { describeError } from './describeError.ts'
import { useSecurePrompt } from './securePromptContext.ts'

type ErrorNoticeProps = {
  error: unknown
  onRetry?: (() => void) | undefined
}

export function ErrorNotice({ error, onRetry }: ErrorNoticeProps) {
  if (isSignInNeeded(error)) return <SignInNotice reason={error.message} />
  const { message, hint, detail, link, mayRetry } = describeError(error)
  return (
    <div role="alert" className="flex items-start gap-2.5 rounded-card border border-line bg-negative-soft p-3">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-negative" />
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words text-text">{message}</p>
        {detail && <p className="break-words text-muted">{detail}</p>}
        {hint !== '' && <p className="text-muted">{hint}</p>}
        {link && (
          <a href={link.href} className="font-medium text-accent hover:underline">
            {link.label}
          </a>
        )}
      </div>
      {onRetry && mayRetry && (
        <Button size="small" icon={RotateCw} onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** Whether a hosted service requires the wallet to sign in first. */
export function isSignInNeeded(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'service/sign-in'
}

/**
 * Shown in place of content if a hosted service requires the wallet to sign in. This is a required step rather than an
 * error.
 */
function SignInNotice({ reason }: { reason: string }) {
  const openSecurePrompt = useSecurePrompt()
  const state = useWallet().data?.state
  return (
    <div role="status" className="flex flex-col items-start gap-3 rounded-card border border-line bg-panel p-3">
      <div className="flex items-start gap-2.5">
        <LogIn aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
        <div className="min-w-0">
          <p className="font-medium text-text">Sign-in needed</p>
          <p className="break-words text-muted">{reason}</p>
        </div>
      </div>
      {state === 'absent' && (
        <div className="flex flex-wrap gap-2">
          <Button variant="primary" onClick={() => void openSecurePrompt({ purpose: 'create' })}>
            Create wallet
          </Button>
          <Button onClick={() => void openSecurePrompt({ purpose: 'import' })}>Import a wallet</Button>
        </div>
      )}
      {state === 'locked' && (
        <Button variant="primary" onClick={() => void openSecurePrompt({ purpose: 'unlock' })}>
          Unlock wallet
        </Button>
      )}
    </div>
  )
}
