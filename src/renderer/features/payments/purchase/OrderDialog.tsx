import { type ReactNode, useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import type { PurchaseOrder } from '#renderer/ui/purchaseContext.ts'
import { goTo } from '#renderer/ui/route.ts'
import { Select } from '#renderer/ui/Select.tsx'
import { Skeleton } from '#renderer/ui/Skeleton.tsx'
import { type SandboxPort, SandboxPortFields } from '#renderer/ui/sandboxes/SandboxPortFields.tsx'
import { TextAreaField } from '#renderer/ui/TextAreaField.tsx'
import { useDebounced } from '#renderer/ui/useDebounced.ts'
import { AppError } from '#shared/appError.ts'
import { domainLimits } from '#shared/contract/domainSearch.ts'
import { Nameservers } from '#shared/contract/domains.ts'
import { formatMicroUsd } from '../describePayment.ts'
import { TestChip } from '../StateChip.tsx'
import { PayerLine } from './PayerLine.tsx'
import {
  addYears,
  defaultChoices,
  formatYears,
  orderTitle,
  type PurchaseChoices,
  toPurchaseInput,
} from './purchaseInput.ts'
import { findOffer, useOrder, useQuote } from './usePurchase.ts'
import { VerdictNotice } from './VerdictNotice.tsx'

type OrderDialogProps = { order: PurchaseOrder; onClose: () => void; onOrdered: (paymentId: string) => void }

/** Order form: product, term and price. Signs nothing. */
export function OrderDialog({ order, onClose, onOrdered }: OrderDialogProps) {
  const [choices, setChoices] = useState(defaultChoices)
  const [hosts, setHosts] = useState<string>()
  const nameservers = Nameservers.safeParse((hosts ?? '').split(/[\s,]+/).filter((it) => it !== ''))
  const hasOwn = hosts !== undefined
  const [target, setTarget] = useState<SandboxPort>()
  const [isPointed, setPointed] = useState(false)
  const whole = wholeChoices({
    ...{ choices, target: isPointed ? target : undefined, isPointed },
    nameservers: hasOwn ? (nameservers.success ? nameservers.data : undefined) : [],
  })
  // Debounces quotes while the user types.
  const quotedText = useDebounced(JSON.stringify(whole ?? null))
  const quoted: PurchaseChoices | null = JSON.parse(quotedText)
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuote(order, quoted ?? undefined)
  const ordering = useOrder(order, onOrdered)
  const offer = findOffer(data)
  const amount = offer?.amount_micro_usd ?? undefined
  const [canPay, setCanPay] = useState(true)
  const isCurrent =
    !isPlaceholderData &&
    whole &&
    JSON.stringify(toPurchaseInput(order, whole)) === JSON.stringify(quoted && toPurchaseInput(order, quoted))
  const isReady = isCurrent && amount !== undefined && data?.verdict?.effect !== 'refuse' && canPay && !error
  const hasMoved = ordering.error instanceof AppError && ordering.error.code === 'payment/price'
  const change = (changed: Partial<PurchaseChoices>) => {
    setChoices({ ...choices, ...changed })
    ordering.reset()
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !ordering.isPending && onClose()}
      title={orderTitle(order)}
      staysOpen
      onSubmit={() => isReady && ordering.mutate({ choices: whole, priceUsd: amount / 1_000_000 })}
      footer={
        <>
          <Button onClick={onClose} disabled={ordering.isPending}>
            Cancel
          </Button>
          {hasMoved ? (
            <Button
              variant="primary"
              onClick={() => {
                ordering.reset()
                void refetch()
              }}
            >
              Show the new price
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
        {order.kind !== 'topup' && (
          <div className="grid grid-cols-[9rem_minmax(0,1fr)] items-start gap-4">
            <Select
              label="Years"
              value={String(choices.years)}
              onChange={(years) => change({ years: Number(years) })}
              options={Array.from({ length: domainLimits.years.max }, (_, at) => ({
                value: String(at + 1),
                label: formatYears(at + 1),
              }))}
            />
            {order.kind === 'registration' && (
              <div className="flex flex-col gap-2 pt-6.5">
                <Checkbox
                  label="Privacy"
                  hint="Hides your contact details from public lookups."
                  checked={choices.privacy}
                  onChange={(privacy) => change({ privacy })}
                />
                <Checkbox
                  label="Use other nameservers"
                  hint={hasOwn ? undefined : 'Otherwise you edit its DNS records here.'}
                  checked={hasOwn}
                  disabled={isPointed}
                  onChange={(own) => setHosts(own ? '' : undefined)}
                />
                <Checkbox
                  label="Point it at a sandbox"
                  hint={isPointed ? undefined : 'The site of an exposed port, as soon as the name is yours.'}
                  checked={isPointed}
                  disabled={hasOwn}
                  onChange={setPointed}
                />
              </div>
            )}
          </div>
        )}
        {isPointed && <SandboxPortFields value={target} onChange={setTarget} />}
        {hasOwn && (
          <TextAreaField
            label="Nameservers"
            hint="One per line, from 2 to 13."
            error={
              hosts.trim() === '' || nameservers.success
                ? undefined
                : `Nameservers ${nameservers.error.issues[0]?.message}.`
            }
            rows={3}
            value={hosts}
            onChange={setHosts}
            monospaced
          />
        )}
        <div className="rounded-card border border-line bg-panel">
          <dl className="flex flex-col gap-1 px-3.5 py-2.5">
            <PriceLines order={order} years={choices.years} />
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

type Chosen = {
  choices: PurchaseChoices
  target: SandboxPort | undefined
  isPointed: boolean
  /** Absent if invalid. */
  nameservers: readonly string[] | undefined
}

/** Returns undefined while a choice is missing. */
function wholeChoices({ choices, target, isPointed, nameservers }: Chosen): PurchaseChoices | undefined {
  if (!nameservers) return undefined
  if (!isPointed) return { ...choices, nameservers }
  if (target?.port === undefined) return undefined
  return { ...choices, nameservers, sandbox: { id: target.sandboxId, port: target.port } }
}

function PriceLines({ order, years }: { order: PurchaseOrder; years: number }) {
  if (order.kind === 'topup') {
    return <Line name="Credits">${order.amountUsd.toLocaleString('en')}.00</Line>
  }
  if (order.kind === 'renewal') {
    return (
      <>
        <Line name="Expires now">{order.expiresAt.slice(0, 10)}</Line>
        <Line name="Expires then">{addYears(order.expiresAt, years)}</Line>
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
