import { KeyRound, RotateCw } from 'lucide-react'
import { Button } from '../ui/Button.tsx'
import { CopyLine } from '../ui/CopyLine.tsx'
import { EmptyState } from '../ui/EmptyState.tsx'
import { ErrorNotice } from '../ui/ErrorNotice.tsx'
import { isSessionLost } from './sessionLost.ts'

/** Says how to get a session, or why there is no telling. */
export function NoSession({ error, onRetry }: { error: Error; onRetry: () => void }) {
  return (
    <main className="h-full">
      <h1 className="sr-only">Steward</h1>
      {isSessionLost(error) ? (
        <EmptyState
          icon={KeyRound}
          title="You’re signed out"
          description="Steward was restarted, or this link was already used."
          actions={
            <Button icon={RotateCw} onClick={onRetry}>
              Try again
            </Button>
          }
        >
          <h3 className="font-medium text-text">To sign in again</h3>
          <p className="mt-0.5 mb-2">
            Start Steward in its folder and open the address it prints. Sandboxes keep running.
          </p>
          <CopyLine text="npm start" label="Copy command" />
        </EmptyState>
      ) : (
        <div className="mx-auto flex h-full max-w-120 flex-col justify-center p-6">
          <ErrorNotice error={error} onRetry={onRetry} />
        </div>
      )}
    </main>
  )
}
