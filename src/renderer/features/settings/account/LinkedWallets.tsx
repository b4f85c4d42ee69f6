import type { LinkedWallet } from '../../../../shared/contract/auth.ts'
import { openRecord, plainWord } from '../../../../shared/openRecord.ts'
import { AddressText } from '../../../ui/AddressText.tsx'
import { TimeAgo } from '../../../ui/TimeAgo.tsx'

const chains: Readonly<Record<LinkedWallet['wallet_type'], string>> = openRecord(
  { evm: 'Ethereum', solana: 'Solana' },
  plainWord,
)

/** The wallets that sign in to this account. They are linked and unlinked over REST, with a signed message. */
export function LinkedWallets({ wallets }: { wallets: readonly LinkedWallet[] }) {
  return (
    <section aria-label="Linked wallets" className="px-3.5 py-2.5">
      <h4 className="font-medium">Linked wallets</h4>
      {wallets.length > 0 && (
        <ul className="mt-1 mb-1.5 flex flex-col gap-0.5">
          {wallets.map(({ caip10, wallet_address, wallet_type, linked_at }) => (
            <li key={caip10} className="flex min-w-0 flex-wrap items-center gap-x-3">
              <span className="w-16 text-muted">{chains[wallet_type]}</span>
              <AddressText text={wallet_address} label="Copy address" />
              <span className="text-small text-faint">
                linked <TimeAgo at={linked_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <p className="text-small text-faint">
        {wallets.length === 0 && 'No linked wallets. '}Linked wallets can sign in to this account.{' '}
        <a href="/docs" target="_blank" rel="noreferrer" className="font-medium text-accent hover:underline">
          How to link a wallet
        </a>
      </p>
    </section>
  )
}
