import {
  ArrowDownLeft,
  ArrowUpRight,
  Box,
  ChevronRight,
  Circle,
  CirclePlus,
  type LucideIcon,
  Scale,
  Sparkles,
  Undo2,
} from 'lucide-react'
import { Fragment } from 'react'
import { AddressText } from '#renderer/ui/AddressText.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { Skeleton } from '#renderer/ui/Skeleton.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import type { CreditTransaction, TransactionType } from '#shared/contract/credits.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { openRecord } from '#shared/openRecord.ts'
import { formatChange } from '../creditText.ts'
import { chargeFacts, getRefundableCents } from './chargeFacts.ts'
import { typeLabels } from './historyFilters.ts'

type HistoryRowProps = {
  /** Not set until loaded. */
  transaction: CreditTransaction | undefined
  keyNames: ReadonlyMap<string, string>
  isOpen: boolean
  isTabStop: boolean
  onToggle: (id: string) => void
  onRefund: ((charge: CreditTransaction) => void) | undefined
}

const icons: Record<TransactionType, LucideIcon> = openRecord(
  {
    inference: Sparkles,
    sandbox: Box,
    transfer_in: ArrowDownLeft,
    transfer_out: ArrowUpRight,
    grant: CirclePlus,
    top_up: CirclePlus,
    adjustment: Scale,
    refund: Undo2,
  },
  () => Circle,
)

export function HistoryRow({ transaction, keyNames, isOpen, isTabStop, onToggle, onRefund }: HistoryRowProps) {
  const detailId = transaction && `transaction-${transaction.id}`
  return (
    <>
      <button
        type="button"
        data-row
        tabIndex={isTabStop ? 0 : -1}
        aria-expanded={isOpen}
        aria-controls={isOpen ? detailId : undefined}
        onClick={() => transaction && onToggle(transaction.id)}
        className="flex min-h-9 w-full items-center gap-2.5 px-3.5 py-1.5 text-left hover:bg-hover focus-visible:-outline-offset-2"
      >
        {transaction ? <Summary transaction={transaction} isOpen={isOpen} /> : <NotRead />}
      </button>
      {transaction && isOpen && (
        <div id={detailId} className="flex flex-wrap items-end justify-between gap-3 pt-1 pr-3.5 pb-3 pl-10">
          <Facts transaction={transaction} keyNames={keyNames} />
          {onRefund && getRefundableCents(transaction) > 0 && (
            <Button size="small" icon={Undo2} onClick={() => onRefund(transaction)}>
              Refund…
            </Button>
          )}
        </div>
      )}
    </>
  )
}

function NotRead() {
  return (
    <>
      <span className="sr-only">Loading…</span>
      <Skeleton className="h-4 w-full" />
    </>
  )
}

function Summary({ transaction, isOpen }: { transaction: CreditTransaction; isOpen: boolean }) {
  const { type, amount_cents: amount, balance_after_cents: balance, description, created_at, metadata } = transaction
  const Icon = icons[type]
  return (
    <>
      <Icon aria-hidden className="size-4 shrink-0 text-faint" />
      <span className="w-20 shrink-0 text-small text-muted max-narrow:hidden">{typeLabels[type]}</span>
      <span className="min-w-0 flex-1 truncate text-text">
        {description === '' ? <span className="text-faint">{typeLabels[type]}</span> : description}
      </span>
      {metadata?.estimated === true && (
        <span className="shrink-0 rounded-full bg-caution-soft px-2 text-small text-caution">Estimated</span>
      )}
      {transaction.refunded_cents !== undefined && (
        <span className="shrink-0 rounded-full bg-hover px-2 text-small text-muted">Refunded</span>
      )}
      <span
        className={joinClassNames('w-24 shrink-0 text-right tabular-nums', amount > 0 ? 'text-positive' : 'text-text')}
      >
        {formatChange(amount)}
      </span>
      <span className="w-24 shrink-0 text-right text-muted tabular-nums max-narrow:hidden">
        <span className="sr-only">Balance </span>
        {formatUsdCents(balance)}
      </span>
      <span className="w-14 shrink-0 text-right">
        <TimeAgo at={created_at} />
      </span>
      <ChevronRight
        aria-hidden
        className={joinClassNames(
          'size-3 shrink-0 text-faint transition-transform duration-100',
          isOpen && 'rotate-90',
        )}
      />
    </>
  )
}

type FactsProps = { transaction: CreditTransaction; keyNames: ReadonlyMap<string, string> }

function Facts({ transaction, keyNames }: FactsProps) {
  const { id, created_at, key_id: key, amount_cents: amount, balance_after_cents: balance } = transaction
  const facts = [
    { name: 'Time', value: new Date(created_at).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'medium' }) },
    { name: 'Amount', value: `${formatChange(amount)}, balance after ${formatUsdCents(balance)}` },
    ...(key === undefined ? [] : [{ name: 'API key', value: keyNames.get(key) ?? 'A revoked key' }]),
    ...chargeFacts(transaction),
  ]
  return (
    <dl className="grid min-w-0 grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1 text-small">
      {facts.map(({ name, value }) => (
        <Fragment key={name}>
          <dt className="text-faint leading-6">{name}</dt>
          <dd className="min-w-0 break-words text-text leading-6">{value}</dd>
        </Fragment>
      ))}
      <dt className="text-faint leading-6">ID</dt>
      <dd className="min-w-0">
        <AddressText text={id} label="Copy ID" whole />
      </dd>
    </dl>
  )
}
