import { useState } from 'react'
import { AddressText } from '#renderer/ui/AddressText.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { showErrorNotice } from '#renderer/ui/showErrorNotice.ts'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import { useUnlocked } from '#renderer/ui/useUnlocked.ts'
import type { WalletLink } from '#shared/contract/walletLinks.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { useWalletLinks } from './useWalletLinks.ts'

const chains: Readonly<Record<WalletLink['chain_type'], string>> = openRecord(
  { evm: 'Ethereum', solana: 'Solana' },
  toPlainWord,
)

/**
 * Wallets that can sign in to this account. Wallets of other computers are linked through the REST API with a signed
 * message.
 */
export function LinkedWallets() {
  const { data, error, isPending, refetch, link, unlink } = useWalletLinks()
  const [unlinking, setUnlinking] = useState<WalletLink>()
  const unlocked = useUnlocked()
  const links = data?.links ?? []
  const linkOne = ({ account_id: id, label }: WalletLink): void => {
    if (id) void showErrorNotice(`Could not link ${label ?? 'the wallet'}`, () => unlocked(() => link(id)))
  }
  return (
    <section aria-label="Linked wallets" className="px-3.5 py-2.5">
      <h4 className="font-medium">Linked wallets</h4>
      {isPending && <SkeletonRows label="Loading wallets…" />}
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {links.length > 0 && (
        <ul className="mt-1 mb-1.5 flex flex-col gap-1">
          {links.map((item) => (
            <LinkRow
              key={`${item.chain_type} ${item.address}`}
              link={item}
              onLink={() => linkOne(item)}
              onUnlink={() => setUnlinking(item)}
            />
          ))}
        </ul>
      )}
      <p className="text-small text-faint">
        {data && !links.some(({ linked }) => linked) && 'No linked wallets. '}Linked wallets can sign in to this
        account.{' '}
        <a href="/docs" target="_blank" rel="noreferrer" className="font-medium text-accent hover:underline">
          How to link a wallet
        </a>
      </p>
      {unlinking && (
        <ConfirmDialog
          open
          onOpenChange={(open) => !open && setUnlinking(undefined)}
          title="Unlink wallet?"
          description={
            <>
              <span className="font-mono text-small break-all">{unlinking.address}</span> can no longer sign in to this
              account. Its sign-ins end, and API keys that it created are revoked.{' '}
              {unlinking.account_id && 'Steward does not link it again.'}
              <LinkedByNotice
                addresses={links.filter((it) => isLinkedBy(it, unlinking)).map(({ address }) => address)}
              />
            </>
          }
          confirmLabel="Unlink wallet"
          onConfirm={() => unlink(unlinking.address)}
        />
      )}
    </section>
  )
}

function isLinkedBy({ linked_by: linkedBy }: WalletLink, { address }: WalletLink): boolean {
  return linkedBy === address
}

function LinkedByNotice({ addresses }: { addresses: readonly string[] }) {
  if (addresses.length === 0) return null
  return (
    <span className="mt-2 block">
      {addresses.length === 1 ? 'A wallet that it linked stays linked:' : 'Wallets that it linked stay linked:'}
      {addresses.map((address) => (
        <span key={address} className="block font-mono text-small break-all">
          {address}
        </span>
      ))}
    </span>
  )
}

type RowProps = { link: WalletLink; onLink: () => void; onUnlink: () => void }

function LinkRow({ link, onLink, onUnlink }: RowProps) {
  const { address, chain_type, label, linked, linked_at, linked_by, by_steward } = link
  return (
    <li className="flex min-w-0 flex-wrap items-center gap-x-3">
      <span className="w-16 text-muted">{chains[chain_type]}</span>
      <AddressText text={address} label="Copy address" />
      <span className="min-w-0 flex-1 truncate text-small text-faint">
        {label !== null && `${label}, `}
        {linked && linked_at ? (
          <>
            linked {by_steward ? 'by Steward ' : linked_by !== null && `by ${shortenAddress(linked_by)} `}
            <TimeAgo at={linked_at} />
          </>
        ) : (
          'not linked'
        )}
      </span>
      {linked ? (
        <Button size="small" aria-label={`Unlink ${address}`} onClick={onUnlink}>
          Unlink
        </Button>
      ) : (
        <Button size="small" aria-label={`Link ${address}`} onClick={onLink}>
          Link
        </Button>
      )}
    </li>
  )
}
