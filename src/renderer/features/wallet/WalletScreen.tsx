import { useWallet } from '../../agent/useWallet.ts'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { NoWallet } from './NoWallet.tsx'
import { PresentWallet } from './PresentWallet.tsx'
import { WalletTrouble } from './WalletTrouble.tsx'

export function WalletScreen() {
  const { data: wallet, error, isPending, refetch } = useWallet()
  if (isPending) {
    return (
      <div className="mx-auto max-w-220 p-6">
        <SkeletonRows label="Reading the wallet…" count={4} rowClassName="h-16" />
      </div>
    )
  }
  if (!wallet) {
    return (
      <div className="mx-auto max-w-220 p-6">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  if (wallet.state === 'absent') return <NoWallet backend={wallet.backend} />
  if (wallet.state === 'locked' || wallet.state === 'unlocked') return <PresentWallet wallet={wallet} />
  return <WalletTrouble wallet={wallet} onRetry={() => void refetch()} />
}
