import { LogIn } from 'lucide-react'
import { useWallet } from '../api/useWallet.ts'
import { Button } from './Button.tsx'
import { useSecurePrompt } from './securePromptContext.ts'

/** Stands where a hosted service has nothing to show before the wallet has signed in to it: a step to take, no error. */
export function SignInNotice({ reason }: { reason: string }) {
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
