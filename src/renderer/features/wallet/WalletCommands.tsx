import { Copy, Download, KeyRound, Lock, LockOpen, Plus } from 'lucide-react'
import { useWallet } from '../../api/useWallet.ts'
import { type Command, useCommands } from '../../ui/commands/commandRegistry.tsx'
import { copyText } from '../../ui/copyText.ts'
import { goTo } from '../../ui/route.ts'
import { notify } from '../../ui/toast.tsx'
import { useWalletActions } from './useWalletActions.ts'

const section = 'Wallet'

export function WalletCommands() {
  const wallet = useWallet().data
  const actions = useWalletActions()
  const state = wallet?.state
  const hasWallet = state === 'locked' || state === 'unlocked'
  const accounts = wallet?.keyrings.flatMap((keyring) => keyring.accounts) ?? []
  const inWallet = (run: () => void) => () => {
    goTo('wallet')
    run()
  }
  useCommands([
    { id: 'wallet.lock', title: 'Lock wallet', section, icon: Lock, enabled: state === 'unlocked', run: actions.lock },
    {
      id: 'wallet.unlock',
      title: 'Unlock wallet…',
      section,
      icon: LockOpen,
      enabled: state === 'locked',
      run: actions.unlock,
    },
    {
      id: 'wallet.create',
      title: state === 'absent' ? 'Create a wallet…' : 'Create another recovery phrase…',
      section,
      icon: Plus,
      enabled: hasWallet || state === 'absent',
      run: inWallet(actions.create),
    },
    {
      id: 'wallet.import',
      title: 'Import a phrase or key…',
      section,
      icon: Download,
      keywords: ['keystore', 'private key', 'restore'],
      enabled: hasWallet || state === 'absent',
      run: inWallet(actions.importOne),
    },
    {
      id: 'wallet.passphrase',
      title: 'Change the wallet passphrase…',
      section,
      icon: KeyRound,
      enabled: hasWallet,
      run: actions.changePassphrase,
    },
    ...accounts.map(
      ({ id, label, address }): Command => ({
        id: `wallet.copy.${id}`,
        title: `Copy address of ${label}`,
        section,
        icon: Copy,
        keywords: [address],
        run: () => void copyText(address).then((copied) => copied && notify.done(`Address of ${label} copied`)),
      }),
    ),
  ])
  return null
}
