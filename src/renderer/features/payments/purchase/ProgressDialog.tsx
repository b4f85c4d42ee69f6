import { CircleCheck, CircleX, Clock, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { useDecisionView } from '#renderer/ui/decisionContext.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import type { PurchaseOrder } from '#renderer/ui/purchaseContext.ts'
import { goTo } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import type { PaymentReceipt } from '#shared/contract/paymentRecords.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { formatAmount } from '../describePayment.ts'
import { usePayment } from '../usePayments.ts'
import { getPurchaseOutcome, type PurchaseOutcome, type Sold } from './outcome.ts'
import { orderTitle } from './purchaseInput.ts'

type ProgressDialogProps = {
  order: PurchaseOrder
  paymentId: string
  onClose: () => void
  /** Returns to the order form. */
  onAgain: () => void
}

/** Payment in progress: approval, payment, delivery. The payment continues after the dialog is closed. */
export function ProgressDialog({ order, paymentId, onClose, onAgain }: ProgressDialogProps) {
  const Decision = useDecisionView()
  const { data: payment, error, refetch } = usePayment(paymentId)
  const outcome = payment && getPurchaseOutcome(payment)
  const isBought = outcome?.kind === 'done'
  const leave = (...place: string[]) => {
    onClose()
    goTo(...place)
  }
  const buttons = (
    <>
      {payment && <Button onClick={() => leave('payments', payment.id)}>Receipt</Button>}
      {outcome?.kind === 'unpaid' && <Button onClick={onAgain}>Back to the order</Button>}
      {isBought && order.kind === 'registration' && (
        <Button onClick={() => leave('domains', 'name', order.domain)}>Edit DNS records</Button>
      )}
      <Button variant={outcome ? 'primary' : 'secondary'} onClick={onClose}>
        {isBought ? 'Done' : 'Close'}
      </Button>
    </>
  )
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={orderTitle(order)}
      staysOpen
      // While approval is pending, the decision provides the buttons.
      {...(payment?.state !== 'waiting' && { footer: buttons })}
    >
      <div className="flex flex-col gap-4">
        {error && !payment ? (
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        ) : !payment ? (
          <SkeletonRows label="Loading the payment…" count={3} />
        ) : (
          <>
            <Steps payment={payment} outcome={outcome} />
            {payment.state === 'waiting' && payment.intent_id !== null && <Decision intentId={payment.intent_id} />}
            {outcome && <Outcome order={order} payment={payment} outcome={outcome} />}
          </>
        )}
      </div>
    </Dialog>
  )
}

type StepState = 'todo' | 'now' | 'done' | 'failed'
const stepTones = { todo: 'neutral', now: 'accent', done: 'positive', failed: 'negative' } as const
const stepLabels = { todo: 'not yet', now: 'in progress', done: 'done', failed: 'failed' } as const

function Steps({
  payment: { state, paid },
  outcome,
}: {
  payment: PaymentReceipt
  outcome: PurchaseOutcome | undefined
}) {
  const isApproving = state === 'waiting' || state === 'planned'
  const isRefused = outcome?.kind === 'unpaid'
  const steps: readonly { name: string; is: StepState }[] = [
    { name: 'Approval', is: isApproving ? 'now' : isRefused && paid === false ? 'failed' : 'done' },
    { name: 'Payment', is: paid === true ? 'done' : isApproving || isRefused ? 'todo' : 'now' },
    {
      name: 'Delivery',
      is: outcome?.kind === 'done' ? 'done' : outcome?.kind === 'credited' ? 'failed' : paid === true ? 'now' : 'todo',
    },
  ]
  return (
    <ol aria-label="Progress" className="flex flex-wrap gap-x-6 gap-y-1">
      {steps.map(({ name, is }) => (
        <li key={name} data-step={is} className="flex items-center gap-1.5">
          <StatusDot tone={stepTones[is]} pulsing={is === 'now'} />
          <span className={is === 'todo' ? 'text-faint' : 'text-text'}>{name}</span>
          <span className="sr-only">{stepLabels[is]}</span>
        </li>
      ))}
    </ol>
  )
}

type OutcomeProps = { order: PurchaseOrder; payment: PaymentReceipt; outcome: PurchaseOutcome }

function Outcome({ order, payment, outcome }: OutcomeProps) {
  switch (outcome.kind) {
    case 'done':
      return (
        <OutcomeMessage Icon={CircleCheck} tone="text-positive" title={formatPurchaseTitle(order, outcome.sold)}>
          {formatPurchaseDetail(outcome.sold)}
          You paid {formatAmount(payment)}
          {payment.test && ' of test money'}.{formatSandbox(outcome.sold)}
        </OutcomeMessage>
      )
    case 'credited':
      return (
        <OutcomeMessage Icon={CircleX} tone="text-negative" title="You paid, but the order failed." alert>
          {outcome.reason}{' '}
          {outcome.creditedCents === undefined
            ? 'The receipt shows the service’s response.'
            : `${formatUsdCents(outcome.creditedCents)} was added to your credits.`}
        </OutcomeMessage>
      )
    case 'unpaid':
      return (
        <OutcomeMessage Icon={CircleX} tone="text-muted" title="Nothing was paid." alert>
          {outcome.reason}
        </OutcomeMessage>
      )
    case 'unclear':
      return (
        <OutcomeMessage Icon={Clock} tone="text-caution" title="We don’t know yet if it went through." alert>
          {outcome.reason} Steward keeps checking and never pays twice. Don’t order again. You can close this window;
          Payments shows the outcome.
        </OutcomeMessage>
      )
  }
}

function formatPurchaseTitle(order: PurchaseOrder, sold: Sold): string {
  if (order.kind === 'topup') return `${formatUsdCents(sold.credits_cents ?? order.amountUsd * 100)} of credits added`
  if (sold.status === 'pending') return `${order.unicode} is being registered`
  return order.kind === 'renewal' ? `${order.unicode} is renewed` : `${order.unicode} is yours`
}

function formatPurchaseDetail({ status, expires_at: expiresAt }: Sold): string {
  if (status === 'pending') return 'The registrar is still processing it. It will appear in My domains. '
  return expiresAt === undefined ? '' : `It expires on ${expiresAt.slice(0, 10)}. `
}

function formatSandbox({ sandbox }: Sold): string {
  if (!sandbox) return ''
  if (sandbox.error !== null) return ` It does not point to the sandbox yet: ${sandbox.error}`
  return sandbox.url === null ? '' : ` It points to your sandbox: ${sandbox.url}`
}

type OutcomeMessageProps = { Icon: LucideIcon; tone: string; title: string; alert?: boolean; children: ReactNode }

function OutcomeMessage({ Icon, tone, title, alert = false, children }: OutcomeMessageProps) {
  return (
    <div role={alert ? 'alert' : 'status'} className="flex items-start gap-2.5">
      <Icon aria-hidden className={`mt-0.5 size-5 shrink-0 ${tone}`} />
      <div className="min-w-0 flex-1">
        <p className="text-title font-semibold break-words">{title}</p>
        <p className="text-muted break-words">{children}</p>
      </div>
    </div>
  )
}
