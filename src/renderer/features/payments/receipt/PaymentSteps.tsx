import { Panel } from '#renderer/ui/Panel.tsx'
import type { PaymentReceipt, PaymentState } from '#shared/contract/paymentRecords.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'

const words: Readonly<Record<PaymentState, string>> = openRecord(
  {
    planned: 'Offer checked',
    waiting: 'Waited for approval',
    signed: 'Signed and saved',
    sent: 'Sent to the seller',
    settled: 'Paid',
    refused: 'Refused',
    unknown: 'Outcome unknown',
    reconciled: 'Reconciled',
  },
  toPlainWord,
)

/**
 * Whether a step is a repeated `planned` step after `waiting`, which means that the payment was approved in between.
 */
function isApproved(steps: PaymentReceipt['steps'], at: number): boolean {
  return steps[at]?.state === 'planned' && steps[at - 1]?.state === 'waiting'
}

/** Steps of a payment, oldest first. */
export function PaymentSteps({ steps }: Pick<PaymentReceipt, 'steps'>) {
  return (
    <Panel title="Timeline">
      <ol aria-label="Steps" className="flex flex-col px-3.5 py-2.5">
        {steps.map(({ state, detail, at }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: events keep their order
          <li key={index} className="flex gap-3 pb-3 last:pb-0">
            <span aria-hidden className="mt-1.5 size-2 shrink-0 rounded-full bg-chart-other" />
            <div className="min-w-0 flex-1">
              <p className="flex items-baseline justify-between gap-3">
                <span className="font-medium">{isApproved(steps, index) ? 'Approved' : words[state]}</span>
                <time
                  dateTime={at}
                  title={new Date(at).toLocaleString()}
                  className="shrink-0 text-small text-faint tabular-nums"
                >
                  {new Date(at).toLocaleTimeString()}
                </time>
              </p>
              {detail !== null && <p className="text-small break-words text-muted">{detail}</p>}
            </div>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
