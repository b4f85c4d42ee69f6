import { Download, Lock, LockOpen, PencilLine, Plus } from 'lucide-react'
import { useState } from 'react'
import { evmNetworks } from '#shared/contract/networks.ts'
import type { Keyring, KeyringId, Wallet, WalletAccount } from '#shared/contract/wallet.ts'
import { Button } from '../../ui/Button.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { PageFrame, PageScroll } from '../../ui/PageFrame.tsx'
import { StatusDot } from '../../ui/StatusDot.tsx'
import { BalancesCard } from './BalancesCard.tsx'
import { DepositDialog } from './DepositDialog.tsx'
import { KeyringCard } from './KeyringCard.tsx'
import { NetworksTable } from './NetworksTable.tsx'
import { useBalances, useTestUsdc } from './useBalances.ts'
import { useWalletActions } from './useWalletActions.ts'

/**
 * Screen of an existing wallet. Its content is visible while locked; only actions that need a key ask for the
 * passphrase.
 */
export function ExistingWallet({ wallet }: { wallet: Wallet }) {
  const actions = useWalletActions()
  const [network, setNetwork] = useState<string>(evmNetworks[0].id)
  const [deposit, setDeposit] = useState<WalletAccount>()
  const balances = useBalances(network, wallet)
  const testUsdc = useTestUsdc()
  const hasSolana = wallet.keyrings.some(({ accounts }) => accounts.some((it) => it.chain_type === 'solana'))
  const isLocked = wallet.state === 'locked'
  return (
    <PageFrame
      title="Wallet"
      note={
        <span className="flex items-center gap-2">
          <StatusDot tone={isLocked ? 'neutral' : 'positive'} />
          <span className="min-w-0 truncate" title={wallet.backend.detail}>
            {isLocked ? 'Locked' : 'Unlocked'} · {wallet.backend.name}
          </span>
        </span>
      }
      actions={
        <>
          <Menu
            align="end"
            items={[
              { label: 'New recovery phrase…', icon: Plus, onSelect: actions.create },
              { label: 'Import a phrase or key…', icon: Download, onSelect: actions.importOne },
            ]}
          >
            <Button size="small" icon={Plus} aria-label="Add to the wallet">
              Add
            </Button>
          </Menu>
          {isLocked ? (
            <Button size="small" variant="primary" icon={LockOpen} onClick={actions.unlock}>
              Unlock
            </Button>
          ) : (
            <Button size="small" icon={Lock} onClick={actions.lock}>
              Lock
            </Button>
          )}
        </>
      }
    >
      <PageScroll width="table" className="flex flex-col gap-5 py-5">
        <BackupReminder keyrings={wallet.keyrings} onReveal={actions.reveal} />
        <BalancesCard
          network={network}
          onNetwork={setNetwork}
          hasSolana={hasSolana}
          balances={balances}
          testUsdc={testUsdc}
        />
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
      </PageScroll>
      {deposit && <DepositDialog account={deposit} onClose={() => setDeposit(undefined)} />}
    </PageFrame>
  )
}

/** Reminder to write down recovery phrases. */
function BackupReminder({ keyrings, onReveal }: { keyrings: Keyring[]; onReveal: (id: KeyringId) => void }) {
  return keyrings
    .filter(({ kind, written_down: isWritten }) => kind === 'phrase' && !isWritten)
    .map(({ id, label }) => (
      <div key={id} className="flex items-center gap-3 rounded-card border border-line bg-caution-soft p-3">
        <PencilLine aria-hidden className="size-4 shrink-0 text-caution" />
        <p className="min-w-0 flex-1">
          <span className="font-medium text-text">You haven’t written down “{label}”.</span>{' '}
          <span className="text-muted">If you lose this computer, you lose everything in this wallet.</span>
        </p>
        <Button size="small" onClick={() => onReveal(id)}>
          Write it down
        </Button>
      </div>
    ))
}
