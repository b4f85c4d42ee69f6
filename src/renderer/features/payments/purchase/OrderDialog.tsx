import { CircleCheck, CircleX, ShieldCheck } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import type { PurchaseOrder } from '#renderer/ui/purchaseContext.ts'
import { goTo } from '#renderer/ui/route.ts'
import { Skeleton } from '#renderer/ui/Skeleton.tsx'
import { AppError } from '#shared/appError.ts'
import type { PaymentEvaluation } from '#shared/contract/localPayments.ts'
import type { BudgetState } from '#shared/contract/paymentBudgets.ts'
import { describeBudget, formatMicroUsd } from '../describePayment.ts'
import { TestChip } from '../StateChip.tsx'
import { OrderFields } from './OrderFields.tsx'
import { PayerLine } from './PayerLine.tsx'
import { addYears, defaultOrderForm, type OrderForm, orderTitle, toPurchaseChoices } from './purchaseInput.ts'
import { findOffer, useDebouncedQuote, useOrder } from './usePurchase.ts'

type VerdictNoticeProps = { verdict: PaymentEvaluation; budgets: readonly BudgetState[]; onLimits: () => void }

const verdictStyles = {
  allow: { Icon: CircleCheck, tone: 'text-positive', title: 'This will be paid immediately.' },
  ask: { Icon: ShieldCheck, tone: 'text-accent', title: 'You approve this in the next step.' },
  refuse: { Icon: CircleX, tone: 'text-negative', title: 'This would be refused.' },
} as const

type OrderDialogProps = { order: PurchaseOrder; onClose: () => void; onOrdered: (paymentId: string) => void }

/** Order form with product, term and price. Signs nothing. */
export function OrderDialog({ order, onClose, onOrdered }: OrderDialogProps) {
  const [form, setForm] = useState(defaultOrderForm)
  const choices = toPurchaseChoices(form)
  const { quote, isCurrent } = useDebouncedQuote(order, choices)
  const { data, error, isFetching, refetch } = quote
  const ordering = useOrder(order, onOrdered)
  const offer = findOffer(data)
  const amount = offer?.amount_micro_usd ?? undefined
  const [canPay, setCanPay] = useState(true)
  const isReady = isCurrent && choices && amount !== undefined && data?.verdict?.effect !== 'refuse' && canPay && !error
  const isPriceChanged = ordering.error instanceof AppError && ordering.error.code === 'purchase/price'
  const change = (part: Partial<OrderForm>) => {
    setForm((prev) => ({ ...prev, ...part }))
    if (part.years !== undefined || part.privacy !== undefined) ordering.reset()
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !ordering.isPending && onClose()}
      title={orderTitle(order)}
      staysOpen
      onSubmit={() => isReady && ordering.mutate({ choices, priceUsd: amount / 1_000_000 })}
      footer={
        <>
          <Button onClick={onClose} disabled={ordering.isPending}>
            Cancel
          </Button>
          {isPriceChanged ? (
            <Button
              variant="primary"
              onClick={() => {
                ordering.reset()
                void refetch()
              }}
            >
              Review new price
            </Button>
          ) : (
            <Button type="submit" variant="primary" busy={ordering.isPending} disabled={!isReady}>
              {amount === undefined ? 'Buy' : `Buy for ${formatMicroUsd(amount)}`}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <OrderFields kind={order.kind} form={form} onChange={change} />
        <div className="rounded-card border border-line bg-panel">
          <dl className="flex flex-col gap-1 px-3.5 py-2.5">
            <PriceLines order={order} years={form.years} />
            <div className="flex items-baseline justify-between gap-3">
              <dt className="flex items-center gap-2 font-semibold">Total {offer?.test && <TestChip />}</dt>
              <dd aria-live="polite" className="text-title font-semibold tabular-nums">
                {amount !== undefined && isCurrent ? (
                  formatMicroUsd(amount)
                ) : isFetching ? (
                  <Skeleton className="h-5 w-16" />
                ) : (
                  '–'
                )}
              </dd>
            </div>
          </dl>
          {offer && (
            <PayerLine network={offer.network} amount={offer.amount} isTest={offer.test} onCanPay={setCanPay} />
          )}
        </div>
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {!error && data?.verdict && isCurrent && (
          <VerdictNotice verdict={data.verdict} budgets={data.budgets} onLimits={() => leave(onClose, 'limits')} />
        )}
        {ordering.error && <ErrorNotice error={ordering.error} />}
      </div>
    </Dialog>
  )
}

function PriceLines({ order, years }: { order: PurchaseOrder; years: number }) {
  if (order.kind === 'topup') {
    return <Line name="Credits">${order.amountUsd.toLocaleString('en')}.00</Line>
  }
  if (order.kind === 'renewal') {
    return (
      <>
        <Line name="Current expiry">{order.expiresAt.slice(0, 10)}</Line>
        <Line name="New expiry">{addYears(order.expiresAt, years)}</Line>
      </>
    )
  }
  return order.renewal === null ? null : (
    <Line name="Renews at">{order.renewal.toLocaleString('en', { style: 'currency', currency: 'USD' })} a year</Line>
  )
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-3 text-muted">
      <dt>{name}</dt>
      <dd className="tabular-nums">{children}</dd>
    </div>
  )
}

function leave(onClose: () => void, page: string): void {
  onClose()
  goTo('payments', page)
}

/** Policy evaluation of the payment, shown before the user submits it. */
function VerdictNotice({ verdict: { effect, detail }, budgets, onLimits }: VerdictNoticeProps) {
  const { Icon, tone, title } = verdictStyles[effect]
  const limited = budgets.filter((budget) => budget.remaining_micro_usd !== null && budget.scope !== 'payment')
  return (
    <div role={effect === 'refuse' ? 'alert' : 'status'} data-effect={effect} className="flex items-start gap-2">
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${tone}`} />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{title}</p>
        {effect !== 'ask' && <p className="text-muted break-words">{detail}</p>}
        {limited.length > 0 && (
          <p className="text-small text-faint tabular-nums">
            {limited
              .map((item) => `${describeBudget(item)}: ${formatMicroUsd(item.remaining_micro_usd ?? 0)} left`)
              .join(' · ')}
          </p>
        )}
      </div>
      {effect === 'refuse' && (
        <Button size="small" onClick={onLimits}>
          Change limits
        </Button>
      )}
    </div>
  )
}
