import { Download, KeyRound, RotateCw, ShieldAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Wallet } from '../../../shared/contract/wallet.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { useWalletActions } from './useWalletActions.ts'

type Trouble = Exclude<Wallet['state'], 'absent' | 'locked' | 'unlocked'>

const words: Record<Trouble, { title: string; explanation: string; steps: readonly ReactNode[] }> = {
  keychain_locked: {
    title: 'The keychain of your system is locked',
    explanation:
      'The wallet is safe. The keychain that holds it has to be unlocked first, with the password of your system.',
    steps: ['Unlock the keychain, or the login keyring, of your system.', 'Then try again here.'],
  },
  keychain_unavailable: {
    title: 'The keychain of your system does not answer',
    explanation:
      'There is a wallet, and the keychain that holds it cannot be reached now. Nothing was lost or changed.',
    steps: [
      'Start the keychain of your system: on Linux gnome-keyring or KWallet, in a session with D-Bus.',
      <>
        Then try again here. <code className="font-mono text-small text-text">npm start -- doctor</code> says more.
      </>,
    ],
  },
  damaged: {
    title: 'The wallet cannot be read',
    explanation: 'What was kept is not as it was written. Steward writes nothing over it.',
    steps: [
      'Put a copy of the data folder back, and try again.',
      'Or, when it is gone or you moved it away, import your phrase anew from paper.',
    ],
  },
}

export function WalletTrouble({ wallet, onRetry }: { wallet: Wallet; onRetry: () => void }) {
  const { state, detail, backend } = wallet
  const { importOne } = useWalletActions()
  const { title, explanation, steps } = words[state as Trouble] // the other states have screens of their own
  return (
    <EmptyState
      icon={state === 'damaged' ? ShieldAlert : KeyRound}
      title={title}
      description={
        <>
          <p>{explanation}</p>
          {detail !== null && <p className="mt-2 break-words text-text">{detail}</p>}
        </>
      }
      actions={
        <>
          <Button variant="primary" icon={RotateCw} onClick={onRetry}>
            Try again
          </Button>
          {state === 'damaged' && (
            <Button icon={Download} onClick={importOne}>
              Import a phrase or a key
            </Button>
          )}
        </>
      }
    >
      <ol className="flex list-decimal flex-col gap-1.5 pl-4">
        {steps.map((step, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they never change their places
          <li key={place}>{step}</li>
        ))}
      </ol>
      <p className="mt-3 break-words text-small text-faint">
        {backend.name}. {backend.detail}
      </p>
    </EmptyState>
  )
}
