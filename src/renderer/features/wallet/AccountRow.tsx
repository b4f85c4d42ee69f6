import { ChevronDown, Copy, Ellipsis, FileKey, QrCode, Star } from 'lucide-react'
import { useId, useState } from 'react'
import { type Balance, Label, type WalletAccount } from '#shared/contract/wallet.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { AddressText } from '../../ui/AddressText.tsx'
import { Button } from '../../ui/Button.tsx'
import { joinClassNames } from '../../ui/classNames.ts'
import { copyText } from '../../ui/copyText.ts'
import { IconButton } from '../../ui/IconButton.tsx'
import { Menu, type MenuItem } from '../../ui/Menu.tsx'
import { NameField } from '../../ui/NameField.tsx'
import { formatEther, formatSol } from './tokenText.ts'
import type { WalletActions } from './useWalletActions.ts'

type AccountRowProps = {
  account: WalletAccount
  isDefault: boolean
  balance: Balance | undefined
  actions: WalletActions
  onDeposit: () => void
}

const chains = { evm: 'EVM', solana: 'Solana' } as const

export function AccountRow({ account, isDefault, balance, actions, onDeposit }: AccountRowProps) {
  const [isOpen, setOpen] = useState(false)
  const detailsId = useId()
  const { label, address, chain_type: chain, derivation_path: path } = account
  const items: MenuItem[] = [
    { label: 'Copy address', icon: Copy, onSelect: () => void copyText(address) },
    {
      label: `Make default for ${chains[chain]}`,
      icon: Star,
      disabled: isDefault,
      onSelect: () => actions.makeDefault(account),
    },
    ...(chain === 'evm'
      ? ([
          'separator',
          { label: 'Export as a keystore…', icon: FileKey, onSelect: () => actions.exportKey(account) },
        ] as const)
      : []),
  ]
  return (
    <li aria-label={label} className="py-1.5 pr-2 pl-2">
      <div className="flex min-h-8 items-center gap-2">
        <IconButton
          label={isOpen ? `Hide details of ${label}` : `Show details of ${label}`}
          icon={ChevronDown}
          size="small"
          aria-expanded={isOpen}
          aria-controls={detailsId}
          onClick={() => setOpen(!isOpen)}
          className={joinClassNames('bg-transparent!', !isOpen && '-rotate-90')}
        />
        <div className="flex w-60 min-w-0 items-center gap-1.5 max-narrow:flex-1">
          <div className="min-w-0 flex-1">
            <NameField
              name={label}
              schema={Label}
              of={label}
              as="span"
              rename={(next) => actions.renameAccount(account, next)}
            />
          </div>
          {isDefault && <Chip title={`Used for ${chains[chain]} requests that don’t name an account`}>Default</Chip>}
        </div>
        <span className="flex w-13 shrink-0 max-narrow:hidden">
          <Chip>{chains[chain]}</Chip>
        </span>
        <code className="min-w-0 truncate font-mono text-small text-muted max-narrow:hidden" title={address}>
          {shortenAddress(address)}
        </code>
        <div className="flex-1 max-narrow:hidden" />
        {balance && (balance.usdc !== null || balance.ether !== null || balance.lamports !== null) && (
          <span className="mr-2 flex shrink-0 text-right tabular-nums max-narrow:hidden">
            <span className="min-w-24 text-text">{balance.usdc === null ? '–' : formatUsd(balance.usdc, 'exact')}</span>
            <span className="min-w-30 text-muted">{formatCoin(balance)}</span>
          </span>
        )}
        <Button size="small" icon={QrCode} aria-label={`Deposit to ${label}`} onClick={onDeposit}>
          Deposit
        </Button>
        <Menu align="end" items={items}>
          <IconButton label={`Actions for ${label}`} icon={Ellipsis} />
        </Menu>
      </div>
      <dl
        id={detailsId}
        hidden={!isOpen}
        className="mt-1 mb-1.5 ml-8 grid grid-cols-[auto_minmax(0,1fr)] items-start gap-x-4 text-muted not-[[hidden]]:grid"
      >
        <dt className="leading-6">Address</dt>
        <dd className="text-text">
          <AddressText text={address} label="Copy address" whole />
        </dd>
        <dt className="leading-6">Derivation path</dt>
        <dd className="leading-6">
          {path === null ? 'Imported key' : <code className="font-mono text-small">{path}</code>}
        </dd>
      </dl>
    </li>
  )
}

function formatCoin({ ether, lamports }: Balance): string {
  if (ether !== null) return formatEther(ether)
  return lamports === null ? '–' : formatSol(lamports)
}

function Chip({ title, children }: { title?: string; children: string }) {
  return (
    <span
      title={title}
      className="shrink-0 rounded-small border border-line bg-panel px-1.5 text-tiny leading-4.5 text-muted"
    >
      {children}
    </span>
  )
}
