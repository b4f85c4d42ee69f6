import { Download, Lock, LockOpen, Plus } from 'lucide-react'
import { useState } from 'react'
import { evmNetworks } from '../../../shared/contract/networks.ts'
import type { Wallet, WalletAccount } from '../../../shared/contract/wallet.ts'
import { Button } from '../../ui/Button.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { StatusDot } from '../../ui/StatusDot.tsx'
import { BalancesCard } from './BalancesCard.tsx'
import { DepositDialog } from './DepositDialog.tsx'
import { KeyringCard } from './KeyringCard.tsx'
import { NetworksTable } from './NetworksTable.tsx'
import { NotWrittenDown } from './NotWrittenDown.tsx'
import { useBalances } from './useBalances.ts'
import { useWalletActions } from './useWalletActions.ts'

/** A wallet that is there. Locked or not, what it holds can be seen; only what needs a key asks for the passphrase. */
export function PresentWallet({ wallet }: { wallet: Wallet }) {
  const actions = useWalletActions()
  const [network, setNetwork] = useState<string>(evmNetworks[0].id)
  const [deposit, setDeposit] = useState<WalletAccount>()
  const balances = useBalances(network, wallet)
  const isLocked = wallet.state === 'locked'
  return (
    <div className="size-full overflow-auto">
      <div className="mx-auto flex max-w-220 flex-col gap-5 p-6">
        <header className="flex flex-wrap items-center gap-2">
          <div className="min-w-0 flex-1">
            <h2 className="text-large font-semibold text-text">Wallet</h2>
            <p className="flex items-center gap-2 text-muted">
              <StatusDot tone={isLocked ? 'neutral' : 'positive'} />
              <span className="min-w-0 truncate" title={wallet.backend.detail}>
                {isLocked ? 'Locked' : 'Unlocked'}, kept in: {wallet.backend.name}
              </span>
            </p>
          </div>
          <Menu
            align="end"
            items={[
              { label: 'New recovery phrase…', icon: Plus, onSelect: actions.create },
              { label: 'Import a phrase or a key…', icon: Download, onSelect: actions.importOne },
            ]}
          >
            <Button icon={Plus} aria-label="Add to the wallet">
              Add
            </Button>
          </Menu>
          {isLocked ? (
            <Button variant="primary" icon={LockOpen} onClick={actions.unlock}>
              Unlock
            </Button>
          ) : (
            <Button icon={Lock} onClick={actions.lock}>
              Lock
            </Button>
          )}
        </header>
        <NotWrittenDown keyrings={wallet.keyrings} onReveal={actions.reveal} />
        <BalancesCard network={network} onNetwork={setNetwork} balances={balances} />
        {wallet.keyrings.map((keyring) => (
          <KeyringCard
            key={keyring.id}
            keyring={keyring}
            wallet={wallet}
            balanceOf={balances.of}
            actions={actions}
            onDeposit={setDeposit}
          />
        ))}
        <NetworksTable />
      </div>
      {deposit && <DepositDialog account={deposit} onClose={() => setDeposit(undefined)} />}
    </div>
  )
}
