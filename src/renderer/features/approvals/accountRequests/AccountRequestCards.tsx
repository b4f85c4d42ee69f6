import type { ReactNode } from 'react'
import { AddressText } from '#renderer/ui/AddressText.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import type { AccountRequest } from '#shared/contract/accountRequests.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { useArmed } from '../decision/useArmed.ts'
import { useAccountDecision, useAccountRequests } from './useAccountRequests.ts'

const chains: Readonly<Record<AccountRequest['wallet_type'], string>> = openRecord(
  { evm: 'Ethereum', solana: 'Solana' },
  toPlainWord,
)

/** Cards for wallets that request an account, followed by denied wallets. Shown above the inbox. */
export function AccountRequestCards() {
  const requests = useAccountRequests()
  const waiting = requests.filter(({ state }) => state === 'waiting')
  const denied = requests.filter(({ state }) => state === 'denied')
  // Cards that just moved under the pointer must not react to a click meant for another card.
  const armed = useArmed(waiting.map(({ id }) => id).join(' '))
  if (waiting.length + denied.length === 0) return null
  return (
    <section
      aria-label="Account requests"
      className="flex max-h-[40vh] flex-col gap-2 overflow-auto border-b border-line px-4 py-2"
    >
      {waiting.length > 0 && (
        <ul aria-label="Wallets requesting an account" className="flex flex-col gap-2">
          {waiting.map((request) => (
            <Card key={request.id} request={request} words="asks for an account">
              <Decision request={request} armed={armed} />
            </Card>
          ))}
        </ul>
      )}
      {denied.length > 0 && (
        <details>
          <summary className="w-fit cursor-pointer rounded-control text-small text-muted">
            Denied wallets ({denied.length})
          </summary>
          <ul aria-label="Denied wallets" className="mt-2 flex flex-col gap-2">
            {denied.map((request) => (
              <Card key={request.id} request={request} words="was denied an account">
                <Decision request={request} armed={armed} />
              </Card>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

function Card({ request, words, children }: { request: AccountRequest; words: string; children: ReactNode }) {
  const { wallet_address: address, wallet_type: type, state, asked_at: createdAt, decided_at: decidedAt } = request
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-card border border-line bg-panel px-3 py-2">
      <div className="min-w-0 flex-1 basis-72">
        <p>
          <strong className="font-semibold">{shortenAddress(address)}</strong> {words}.
        </p>
        <p className="flex min-w-0 flex-wrap items-center gap-x-2 text-small text-muted">
          <span>{chains[type]}</span>
          <AddressText text={address} label="Copy address" whole />
          <TimeAgo at={decidedAt ?? createdAt} spelled />
        </p>
        {state === 'waiting' && (
          <p className="text-small text-muted">
            An account has its own sandboxes and API keys on this computer. It can’t see yours.
          </p>
        )}
      </div>
      {children}
    </li>
  )
}

function Decision({ request, armed }: { request: AccountRequest; armed: boolean }) {
  const { busy, decide } = useAccountDecision(request)
  const name = shortenAddress(request.wallet_address)
  return (
    <div className="flex items-center gap-2">
      {request.state === 'waiting' && (
        <Button
          size="small"
          aria-label={`Deny ${name}`}
          busy={busy === 'deny'}
          disabled={!armed || busy !== undefined}
          onClick={() => void decide('deny')}
        >
          Deny
        </Button>
      )}
      <Button
        size="small"
        variant={request.state === 'waiting' ? 'primary' : 'secondary'}
        aria-label={`Allow ${name}`}
        busy={busy === 'allow'}
        disabled={!armed || busy !== undefined}
        onClick={() => void decide('allow')}
      >
        Allow
      </Button>
    </div>
  )
}
