import { Download, KeyRound, RotateCw, ShieldAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Wallet } from '#shared/contract/wallet.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { useWalletActions } from './useWalletActions.ts'

type Trouble = Exclude<Wallet['state'], 'absent' | 'locked' | 'unlocked'>

const words: Record<Trouble, { title: string; explanation: string; steps: readonly ReactNode[] }> = {
  keychain_locked: {
    title: 'Your system keychain is locked',
    explanation: 'Your wallet is safe. Unlock the system keychain first, with your system password.',
    steps: ['Unlock the system keychain or login keyring.', 'Then try again.'],
  },
  keychain_unavailable: {
    title: 'Your system keychain is not responding',
    explanation: 'Your wallet is in the system keychain, which Steward cannot reach. Nothing is lost.',
    steps: [
      'Start your system keychain. On Linux: gnome-keyring or KWallet, in a D-Bus session.',
      <>
        Then try again. For details, run <code className="font-mono text-small text-text">npm start -- doctor</code>.
      </>,
    ],
  },
  damaged: {
    title: 'The wallet cannot be read',
    explanation: 'The stored wallet is damaged. Steward will not overwrite it.',
    steps: [
      'Restore the data folder from a backup, then try again.',
      'Without a backup, import your recovery phrase from paper.',
    ],
  },
}

export function WalletTrouble({ wallet, onRetry }: { wallet: Wallet; onRetry: () => void }) {
  const { state, detail, backend } = wallet
  const { importOne } = useWalletActions()
  const { title, explanation, steps } = words[state as Trouble] // the other states have separate screens
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
              Import a phrase or key
            </Button>
          )}
        </>
      }
    >
      <ol className="flex list-decimal flex-col gap-1.5 pl-4">
        {steps.map((step, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries keep their order
          <li key={place}>{step}</li>
        ))}
      </ol>
      <p className="mt-3 break-words text-small text-faint">
        {backend.name}. {backend.detail}
      </p>
    </EmptyState>
  )
}
