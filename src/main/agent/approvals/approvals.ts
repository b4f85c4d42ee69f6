import type { Grant, Intent, IntentRecord, IntentState, Policy, Requester } from '#shared/contract/intents.ts'

import type { TimelineActor } from './intentLifecycle.ts'

/** The only path to a signature: policy, then the user, then the signer. */
export type Approvals = {
  /**
   * Submits an intent. Returns immediately: decided by the policy or a grant (and then signed), or `waiting` for the
   * user. An allowed intent waits too while the wallet is locked.
   * @throws AppError `intent/invalid`, `intent/too-many`, `wallet/absent`
   */
  submit(request: SubmitRequest): Promise<IntentRecord>
  /** Evaluates an intent without creating it. @throws AppError `intent/invalid`, `wallet/absent` */
  preview(request: Pick<SubmitRequest, 'intent' | 'requester'>): Promise<EvaluationPreview>
  /**
   * Waits until the intent is neither waiting nor being signed, or until the timeout.
   * @returns the record in its current state
   */
  waitUntilSettled(id: string, options: { waitMs: number; signal?: AbortSignal }): Promise<IntentRecord>
  get(id: string): IntentRecord
  list(filter: { state?: IntentState | undefined; limit: number }): { intents: IntentRecord[]; waiting: number }
  /** Withdraws a request for its requester. @param withdrawal defaults to a withdrawal by the requester */
  cancel(id: string, requester: Requester, withdrawal?: Withdrawal): IntentRecord
  /** Updates the requester's name in waiting requests. */
  renameRequester(requesterId: string, name: string): void
  /**
   * Decides an intent, for the user's session only. @throws AppError `intent/decided`, `wallet/locked`,
   * `intent/confirmation`, `intent/stopped`, `intent/denied`
   */
  decide(id: string, decision: Decision): Promise<IntentRecord>
  grants(): Grant[]
  revokeGrant(id: string): void
  /**
   * Returns the words in the scopes of granted tool calls, which include ids of sandboxes, domains and tool servers.
   */
  grantTargets(): string[]
  /** Ends the grants of tool calls for a removed sandbox, domain or tool server. */
  endGrantsFor(target: string): void
  /**
   * Denies waiting requests of removed accounts in the same transaction as `remove`, which deletes the accounts.
   * @param removal.detail one sentence with the reason
   */
  removeAccounts(removal: { ids: ReadonlySet<string>; detail: string }, remove: () => void): void
  /**
   * Evaluates waiting requests again. Ends those that became impossible and publishes those that cannot be approved for
   * now. Call it when rights, limits or targets change.
   */
  review(): void
  /** Denies waiting requests for something that another request has already bought. */
  closePurchase(purchase: string): void
  /** Whether an account that can sign exists. */
  hasWallet(): boolean
  /** @throws AppError `wallet/locked`, `wallet/absent` */
  checkUnlocked(): void
  policy(): Policy
  /** Applies a policy. The caller has already confirmed any loosening outside the window. */
  changePolicy(policy: Omit<Policy, 'stopped'>): Policy
  switchStop(stopped: boolean): Policy
  close(): void
}

export type Withdrawal = {
  actor: TimelineActor
  /** Reason, in one sentence. */
  error: string
}

/** Effect under the current policy and grants. */
export type EvaluationPreview = { effect: 'ask' } | { effect: 'allow' | 'deny'; detail: string }

export type SubmitRequest = {
  intent: Intent
  requester: Requester
  reason?: string | undefined
  /** Item that a payment buys. Only one request per item is approved at a time. */
  purchase?: string | undefined
  /** Whether the user is always asked, regardless of rules and grants. */
  needsPerson?: boolean
  /** Stores related data in the transaction that stores the intent, before anything is signed. */
  onStored?: (record: IntentRecord) => void
}

export type Decision = {
  approve: boolean
  grant?: { times?: number | undefined; until?: string | undefined; only_path?: boolean | undefined } | undefined
  /**
   * Whether the user confirmed the decision outside the window's content: in a native dialog, or with the passphrase in
   * a secure prompt.
   */
  confirmed: boolean
}
