import { Wallet } from 'lucide-react'
import { lazy } from 'react'
import type { Feature } from '../../ui/feature.ts'
import { WalletCommands } from './WalletCommands.tsx'
import { WalletStatus } from './WalletStatus.tsx'

export const walletFeature: Feature = {
  id: 'wallet',
  title: 'Wallet',
  icon: Wallet,
  letter: 'w',
  keywords: ['balance', 'accounts', 'keys'],
  Screen: lazy(async () => ({ default: (await import('./WalletScreen.tsx')).WalletScreen })),
  Everywhere: WalletCommands,
  Status: WalletStatus,
}
