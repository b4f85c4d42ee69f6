import type { Grant, IntentKind, IntentRecord, Requester } from '#shared/contract/intents.ts'

/** Intent as input for policy, grants and reservations. */
export type PolicyInput = {
  kind: IntentKind
  requester: Requester
  host: string | null
  /** Payee and network of a payment, chain of a sign-in. */
  scope: string | null
  /** Path of the resource that a payment buys. */
  path?: string | null | undefined
  accountId: Grant['account_id']
  amountMicroUsd: bigint | null
  /** Item that a payment buys. */
  purchase?: string | null
}

/** Whether the wallet signs the intent. Tool calls need only an approval. */
export function isWalletRequired(kind: IntentKind): boolean {
  return kind !== 'tool.call'
}

export function toPolicyInput(record: IntentRecord): PolicyInput {
  const { kind, requester, host, scope, path, account_id: accountId, purchase } = record
  return { kind, requester, host, scope, path, accountId, amountMicroUsd: readAmount(record), purchase }
}

export function readAmount({ amount_micro_usd: amount }: Pick<IntentRecord, 'amount_micro_usd'>): bigint | null {
  return amount === null ? null : BigInt(amount)
}

export function isAbove(amountMicroUsd: bigint | null, threshold: string): boolean {
  return amountMicroUsd !== null && amountMicroUsd > BigInt(threshold)
}
