import { useWallet } from '../../api/useWallet.ts'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { PageColumn, PageFrame } from '../../ui/PageFrame.tsx'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { NoWallet } from './NoWallet.tsx'
import { PresentWallet } from './PresentWallet.tsx'
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
  if (wallet.state === 'locked' || wallet.state === 'unlocked') return <PresentWallet wallet={wallet} />
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
