import { Ellipsis, Eye, KeyRound, Plus, ScrollText, Trash2 } from 'lucide-react'
import { type Balance, type Keyring, Label, type Wallet, type WalletAccount } from '#shared/contract/wallet.ts'
import { IconButton } from '../../ui/IconButton.tsx'
import { Menu, type MenuItem } from '../../ui/Menu.tsx'
import { NameField } from '../../ui/NameField.tsx'
import { AccountRow } from './AccountRow.tsx'
import type { WalletActions } from './useWalletActions.ts'

type KeyringCardProps = {
  keyring: Keyring
  wallet: Wallet
  balanceOf: (id: string) => Balance | undefined
  actions: WalletActions
  onDeposit: (account: WalletAccount) => void
}

/** Recovery phrase or private key with its accounts. */
export function KeyringCard({ keyring, wallet, balanceOf, actions, onDeposit }: KeyringCardProps) {
  const { id, kind, label, words, accounts } = keyring
  const Icon = kind === 'phrase' ? ScrollText : KeyRound
  const { evm, solana } = wallet.default_accounts
  const add = (chain_type: WalletAccount['chain_type']) => actions.addAccount({ keyring_id: id, chain_type })
  const ofPhrase: MenuItem[] = [
    { label: 'Add an EVM account', icon: Plus, onSelect: () => add('evm') },
    { label: 'Add a Solana account', icon: Plus, onSelect: () => add('solana') },
    'separator',
    { label: 'Show the words…', icon: Eye, onSelect: () => actions.reveal(id) },
  ]
  return (
    <section aria-label={label} className="rounded-card border border-line">
      <header className="flex h-11 items-center gap-2.5 border-b border-line bg-panel pr-2 pl-4">
        <Icon aria-hidden className="size-4 shrink-0 text-muted" />
        <div className="flex min-w-0 flex-1 items-center gap-2">
          <NameField
            name={label}
            schema={Label}
            of={label}
            as="h3"
            rename={(next) => actions.renameKeyring(id, next)}
          />
          <span className="shrink-0 text-small text-faint max-narrow:hidden">
            {kind === 'phrase' ? `${words}-word recovery phrase` : 'Private key'}
          </span>
        </div>
        <Menu
          align="end"
          items={[
            ...(kind === 'phrase' ? ofPhrase : []),
            { label: 'Remove…', icon: Trash2, tone: 'danger', onSelect: () => actions.remove(id) },
          ]}
        >
          <IconButton label={`Actions for ${label}`} icon={Ellipsis} />
        </Menu>
      </header>
      <ul className="divide-y divide-line">
        {accounts.map((account) => (
          <AccountRow
            key={account.id}
            account={account}
            isDefault={account.id === evm || account.id === solana}
            balance={balanceOf(account.id)}
            actions={actions}
            onDeposit={() => onDeposit(account)}
          />
        ))}
      </ul>
    </section>
  )
}
