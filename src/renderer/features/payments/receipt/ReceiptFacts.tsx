import type { ReactNode } from 'react'
import { AddressText } from '#renderer/ui/AddressText.tsx'
import { Panel } from '#renderer/ui/Panel.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { describeRequester } from '#shared/contract/describeRequester.ts'
import { testLedgerNetwork } from '#shared/contract/networks.ts'
import type { PaymentReceipt } from '#shared/contract/paymentRecords.ts'
import { formatAmount, formatMicroUsd } from '../describePayment.ts'

/** Terms and settlement of a payment with their sources. Text from the seller is never rendered as a link. */
export function ReceiptFacts({ payment }: { payment: PaymentReceipt }) {
  const { quote, offer, receipt, error, transaction } = payment
  return (
    <Panel title="Details">
      <dl className="divide-y divide-line">
        <Fact name={payment.paid === true ? 'Paid' : 'Amount'}>
          <strong className="font-semibold tabular-nums">{formatAmount(payment)}</strong>
        </Fact>
        {payment.scheme === 'upto' && payment.paid === true && (
          <Fact name="Limit signed">
            <span className="tabular-nums">{formatMicroUsd(payment.amount_micro_usd)}</span>
          </Fact>
        )}
        {quote && (
          <Fact name="Price shown">
            <span className="tabular-nums">{formatMicroUsd(quote.amount_micro_usd)}</span>
          </Fact>
        )}
        <Fact name="For">
          <span className="font-mono text-small break-all">
            {payment.method} {payment.url}
          </span>
          {offer.description !== null && <q className="block text-muted break-words">{offer.description}</q>}
        </Fact>
        <Fact name="Requested by">
          {payment.requester.kind === 'person' ? 'You' : describeRequester(payment.requester).name}
          {payment.reason !== null && <q className="block text-muted break-words">{payment.reason}</q>}
        </Fact>
        <Fact name="From">
          <AddressText text={payment.from} label="Copy payer" whole />
        </Fact>
        <Fact name="To">
          <AddressText text={payment.pay_to} label="Copy payee" whole />
        </Fact>
        <Fact name="Network">
          {payment.network === testLedgerNetwork.id ? (
            'Test money'
          ) : (
            <>
              {payment.network_name} <code className="font-mono text-small text-muted">{payment.network}</code>
            </>
          )}
        </Fact>
        {transaction !== null && (
          <Fact name="Transaction">
            <AddressText text={transaction} label="Copy transaction" whole />
            {payment.transaction_url !== null && (
              <a
                href={payment.transaction_url}
                target="_blank"
                rel="noreferrer"
                className="block w-fit text-accent hover:underline"
              >
                Show in block explorer
              </a>
            )}
          </Fact>
        )}
        {payment.signature_sha256 !== null && (
          <Fact name="Signature hash">
            <AddressText text={payment.signature_sha256} label="Copy signature hash" whole />
          </Fact>
        )}
        {receipt && (
          <Fact name="Seller’s receipt">
            {receipt.success ? 'Settled' : 'Not settled'}
            {receipt.network !== null && receipt.network !== testLedgerNetwork.id && ` on ${receipt.network}`}
          </Fact>
        )}
        {payment.reconciled_by !== null && <Fact name="Reconciled by">The chain</Fact>}
        {error !== null && <Fact name="Problem">{error}</Fact>}
        <Fact name="Payment ID">
          <AddressText text={payment.id} label="Copy payment ID" whole />
        </Fact>
        {payment.intent_id !== null && (
          <Fact name="Approval">
            <a href={buildAddress('approvals', payment.intent_id)} className="text-accent hover:underline">
              Show the request
            </a>
          </Fact>
        )}
      </dl>
    </Panel>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[8rem_minmax(0,1fr)] gap-x-4 px-3.5 py-1.5 max-narrow:grid-cols-1">
      <dt className="leading-6 text-muted">{name}</dt>
      <dd className="min-w-0 leading-6">{children}</dd>
    </div>
  )
}
