import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ArrowLeft, RotateCw } from 'lucide-react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { DataText, formatJson } from '#renderer/ui/DataText.tsx'
import { useDecisionView } from '#renderer/ui/decisionContext.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { PageScroll } from '#renderer/ui/PageFrame.tsx'
import { Panel } from '#renderer/ui/Panel.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { formatSize } from '#renderer/ui/sizeText.ts'
import { reconcilePayment } from '#shared/contract/localPayments.ts'
import type { PaidResponse, PaymentReceipt } from '#shared/contract/paymentRecords.ts'
import { formatAmount } from '../describePayment.ts'
import { StateChip, TestChip } from '../StateChip.tsx'
import { paymentsKey, usePayment } from '../usePayments.ts'
import { PaymentSteps } from './PaymentSteps.tsx'
import { ReceiptFacts } from './ReceiptFacts.tsx'

export function ReceiptPage({ paymentId }: { paymentId: string }) {
  const { data, error, isPending, refetch } = usePayment(paymentId)
  return (
    <PageScroll width="table" className="flex flex-col gap-5 py-4">
      <a
        href={buildAddress('payments')}
        className="flex h-6 w-fit items-center gap-1.5 text-small text-muted hover:text-text"
      >
        <ArrowLeft aria-hidden className="size-3.5" />
        All payments
      </a>
      {isPending ? (
        <SkeletonRows label="Loading the payment…" count={6} rowClassName="h-6" />
      ) : data ? (
        <Receipt payment={data} />
      ) : (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      )}
    </PageScroll>
  )
}

function Receipt({ payment }: { payment: PaymentReceipt }) {
  const Decision = useDecisionView()
  const { title, state, test, sentence, intent_id: intentId } = payment
  return (
    <article aria-label="Payment" className="flex flex-col gap-5">
      <header className="flex flex-col gap-1">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <p className="text-large font-semibold tabular-nums">{formatAmount(payment)}</p>
          <StateChip payment={payment} />
          {test && <TestChip />}
        </div>
        <h3 className="text-title break-words">{title}</h3>
        <p className="text-muted break-words">{sentence}</p>
      </header>
      <UnknownOutcomeNotice payment={payment} />
      {state === 'waiting' && intentId !== null && (
        <div className="max-w-180 rounded-card border border-line bg-raised p-4">
          <Decision intentId={intentId} />
        </div>
      )}
      <div className="grid items-start gap-6 wide:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-6">
          <ReceiptFacts payment={payment} />
          <AnswerPanel answer={payment.answer} />
        </div>
        <div className="flex flex-col gap-3">
          <PaymentSteps steps={payment.steps} />
          <a
            href={buildAddress('activity', 'payment', payment.id)}
            className="w-fit text-small font-medium text-accent hover:underline"
          >
            Show in Activity
          </a>
        </div>
      </div>
    </article>
  )
}

/** Explains which outcome is unknown and how it will be determined. */
function UnknownOutcomeNotice({ payment: { id, state, paid, valid_until: validUntil } }: { payment: PaymentReceipt }) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const asking = useMutation({
    mutationFn: () => agent(reconcilePayment, { paymentId: id }),
    onSettled: () => readAgain(queryClient, paymentsKey),
  })
  const isUnclear = state === 'unknown' || (state === 'refused' && paid === null)
  if (!isUnclear) return null
  return (
    <div role="status" className="flex flex-col gap-2.5 rounded-card bg-caution-soft p-3">
      <div className="flex flex-wrap items-start gap-2.5">
        <div className="min-w-60 flex-1">
          <p className="font-medium">We don’t know yet if this was paid.</p>
          <p className="text-muted">
            Steward checks with the seller and the chain, and never signs a second payment. Until then, the amount
            counts against your limits.
            {validUntil !== null && ` The signature is void after ${new Date(validUntil).toLocaleTimeString()}.`}
          </p>
        </div>
        <Button size="small" icon={RotateCw} busy={asking.isPending} onClick={() => asking.mutate()}>
          Check now
        </Button>
      </div>
      {asking.error && <ErrorNotice error={asking.error} />}
    </div>
  )
}

/** Purchased response, rendered as text because it is untrusted. */
function AnswerPanel({ answer }: { answer: PaidResponse | null }) {
  if (!answer) return null
  const { status, headers, body, encoding, truncated } = answer
  const type = headers['content-type']
  return (
    <Panel
      title="Response"
      note={`${status}${type === undefined ? '' : ` · ${type}`}${truncated ? ' · truncated' : ''}`}
    >
      {encoding === 'base64' ? (
        <p className="px-3.5 py-2.5 text-muted">Not text, {formatSize(Math.floor((body.length * 3) / 4))}.</p>
      ) : body === '' ? (
        <p className="px-3.5 py-2.5 text-muted">Empty.</p>
      ) : (
        <DataText name="Response from the seller" text={formatJson(body)} className="max-h-80" />
      )}
    </Panel>
  )
}
