import { Wallet as WalletIcon } from 'lucide-react'
import type { WalletBackend } from '#shared/contract/wallet.ts'
import { useWallet } from '../../api/useWallet.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { PageColumn, PageFrame } from '../../ui/PageFrame.tsx'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { ExistingWallet } from './ExistingWallet.tsx'
import { useWalletActions } from './useWalletActions.ts'
import { WalletTrouble } from './WalletTrouble.tsx'

export function WalletScreen() {
  const { data: wallet, error, isPending, refetch } = useWallet()
  if (isPending) {
    return (
      <PageFrame title="Wallet">
        <PageColumn className="py-5">
          <SkeletonRows label="Loading wallet…" count={4} rowClassName="h-16" />
        </PageColumn>
      </PageFrame>
    )
  }
  if (!wallet) {
    return (
      <PageFrame title="Wallet">
        <PageColumn className="py-5">
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        </PageColumn>
      </PageFrame>
    )
  }
  if (wallet.state === 'locked' || wallet.state === 'unlocked') return <ExistingWallet wallet={wallet} />
  return (
    <PageFrame title="Wallet">
      {wallet.state === 'absent' ? (
        <NoWallet backend={wallet.backend} />
      ) : (
        <WalletTrouble wallet={wallet} onRetry={() => void refetch()} />
      )}
    </PageFrame>
  )
}

function NoWallet({ backend }: { backend: WalletBackend }) {
  const { create, importOne } = useWalletActions()
  return (
    <EmptyState
      icon={WalletIcon}
      title="Create your wallet"
      description={
        <p>Steward signs and pays with keys that never leave this computer. Only you can use or restore them.</p>
      }
      actions={
        <>
          <Button variant="primary" onClick={create}>
            Create a wallet
          </Button>
          <Button onClick={importOne}>Import a wallet</Button>
        </>
      }
    >
      <ul className="flex list-disc flex-col gap-1.5 pl-4">
        <li>The whole wallet is one phrase of 12 or 24 words. Write it on paper.</li>
        <li>It is encrypted with your passphrase.</li>
        <li>
          Stored in: <span className="font-medium text-text">{backend.name}</span>
          <details className="text-small text-faint">
            <summary className="w-fit rounded-small hover:text-text">Details</summary>
            <span className="break-words">{backend.detail}</span>
          </details>
        </li>
      </ul>
    </EmptyState>
  )
}
