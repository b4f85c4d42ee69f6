import { Wallet as WalletIcon } from 'lucide-react'
import type { WalletBackend } from '../../../shared/contract/wallet.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { useWalletActions } from './useWalletActions.ts'

export function NoWallet({ backend }: { backend: WalletBackend }) {
  const { create, importOne } = useWalletActions()
  return (
    <EmptyState
      icon={WalletIcon}
      title="Your wallet stays with you"
      description={
        <p>
          Steward signs and pays with keys that never leave this machine. You hold them: nobody else can move what is in
          the wallet, and nobody else can bring it back.
        </p>
      }
      actions={
        <>
          <Button variant="primary" onClick={create}>
            Create a wallet
          </Button>
          <Button onClick={importOne}>Import one</Button>
        </>
      }
    >
      <ul className="flex list-disc flex-col gap-1.5 pl-4">
        <li>One phrase of 12 or 24 words is the whole wallet. You write it on paper.</li>
        <li>A passphrase of yours seals it; without that nothing is signed.</li>
        <li>
          It is kept in: <span className="font-medium text-text">{backend.name}</span>.{' '}
          <span className="break-words text-small text-faint">{backend.detail}</span>
        </li>
      </ul>
    </EmptyState>
  )
}
