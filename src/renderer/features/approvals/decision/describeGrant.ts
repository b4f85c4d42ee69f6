import { describeRequester } from '#shared/contract/describeRequester.ts'
import { describeAction, describePayee } from '#shared/contract/intentLabels.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { shortenAddress } from '#shared/shortAddress.ts'

/** Scope of a grant beyond this request: number of uses, expiry, or both. */
export type GrantDraft = {
  times: number | undefined
  minutes: number | undefined
  /** Whether the grant covers only payments for the same path of the host. */
  onlyPath?: boolean
}

/**
 * Whether more than this request can be approved. Registrations, messages and requests above the threshold are approved
 * one at a time.
 */
export function canApproveMore({ kind, needs_confirmation, decision }: IntentRecord): boolean {
  return kind !== 'identity.register' && kind !== 'message' && !needs_confirmation && decision === null
}

/** Describes exactly what will be signed without further confirmation. */
export function grantSentence(record: IntentRecord, { times, minutes, onlyPath }: GrantDraft, nowMs: number): string {
  const { name } = describeRequester(record.requester)
  const deed = describeAction({
    kind: record.kind,
    host: record.host ?? '*',
    max_amount_micro_usd: record.amount_micro_usd,
  })
  const only = onlyPath && record.path ? ` for ${record.path} only` : ' for anything it sells'
  const sold = record.kind === 'x402.authorize' ? only : ''
  const means =
    record.kind === 'tool.call'
      ? `call ${record.scope ?? 'the tool'}`
      : `${describePayment(record, times) ?? deed}${describePayee(record.scope)} with ${shortenAddress(record.address)}${sold}`
  const often = times === undefined ? 'any number of times' : `this time and ${times - 1} more`
  const end = minutes === undefined ? '' : `, until ${formatExpiry(nowMs + minutes * 60_000, nowMs)}`
  return `${name} may ${means}, ${often}${end}, without asking you again.`
}

/** Formats the payments of a grant, with the total if their number is fixed. */
function describePayment({ kind, host, amount_micro_usd: amount }: IntentRecord, times: number | undefined) {
  if (kind !== 'x402.authorize' || amount === null || times === undefined) return undefined
  const sum = formatUsd(String(BigInt(amount) * BigInt(times)), 'exact')
  return `spend up to ${sum} (${times} × ${formatUsd(amount, 'exact')})${host === null ? '' : ` at ${host}`}`
}

function formatExpiry(endMs: number, nowMs: number): string {
  const end = new Date(endMs)
  const time = end.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
  const isToday = end.toDateString() === new Date(nowMs).toDateString()
  return isToday ? time : `${end.toLocaleDateString(undefined, { dateStyle: 'medium' })}, ${time}`
}
