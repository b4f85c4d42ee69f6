import type { Grant, Intent, IntentRecord, IntentState, Policy, Requester } from '#shared/contract/intents.ts'

import type { TimelineActor } from './intentLifecycle.ts'

/** The one way to a signature: policy, then the person, then the signer. */
export type Approvals = {
  /**
   * Answers at once: decided by policy or a grant (and then signed), or `waiting` for the person. What is allowed while
   * the wallet is locked waits too.
   * @throws AppError `intent/invalid`, `intent/too-many`, `wallet/absent`
   */
  ask(request: AskRequest): Promise<IntentRecord>
  /** Evaluates an intent without creating it. @throws AppError `intent/invalid`, `wallet/absent` */
  foresee(request: Pick<AskRequest, 'intent' | 'requester'>): Promise<Foreseen>
  /** As soon as it is neither waiting nor being signed, or when the time is up, as it is then. */
  waitUntilSettled(id: string, options: { waitMs: number; signal?: AbortSignal }): Promise<IntentRecord>
  get(id: string): IntentRecord
  list(filter: { state?: IntentState | undefined; limit: number }): { intents: IntentRecord[]; waiting: number }
  /**
   * Withdraws a request for its requester.
   * @param withdrawal default: the requester did it itself
   */
  cancel(id: string, requester: Requester, withdrawal?: Withdrawal): IntentRecord
  /** Shows what waits for a requester under its present name. */
  renameRequester(requesterId: string, name: string): void
  /**
   * Decides an intent, for the user's session only. @throws AppError `intent/decided`, `wallet/locked`,
   * `intent/confirmation`, `intent/stopped`, `intent/denied`
   */
  decide(id: string, decision: Decision): Promise<IntentRecord>
  grants(): Grant[]
  revokeGrant(id: string): void
  /** Returns the words of the scopes of granted tool calls. Ids of sandboxes, domains and tool servers are among them. */
  grantTargets(): string[]
  /** Ends the grants of tool calls for a sandbox, a domain or a tool server that was removed. */
  endGrantsFor(target: string): void
  /**
   * Denies what waits for accounts that leave the wallet, in one transaction with `remove`, which deletes them.
   * @param removal.detail one sentence that says why
   */
  removeAccounts(removal: { ids: ReadonlySet<string>; detail: string }, remove: () => void): void
  /**
   * Judges again what waits: ends what became impossible, and tells of what cannot be approved for now. Call it when rights,
   * limits or targets changed.
   */
  review(): void
  /** Denies what waits to buy what another request has bought. */
  closePurchase(purchase: string): void
  /** Whether there is an account that could sign. */
  hasWallet(): boolean
  /** @throws AppError `wallet/locked`, `wallet/absent` */
  checkUnlocked(): void
  policy(): Policy
  /** Applies a policy. The caller has already confirmed any loosening outside of the window. */
  changePolicy(policy: Omit<Policy, 'stopped'>): Policy
  switchStop(stopped: boolean): Policy
  close(): void
}

export type Withdrawal = {
  /** Actor in the activity log. */
  actor: TimelineActor
  /** One sentence that says why. */
  error: string
}

/** Effect that the policy and grants have now. */
export type Foreseen = { effect: 'ask' } | { effect: 'allow' | 'deny'; detail: string }

export type AskRequest = {
  intent: Intent
  requester: Requester
  reason?: string | undefined
  /** Thing that a payment buys. One request for it at a time is approved. */
  purchase?: string | undefined
  /** The person is asked, whatever rules and grants allow. */
  needsPerson?: boolean
  /** Keeps what belongs to the intent, in the transaction that keeps the intent, before anything is signed. */
  alongside?: (record: IntentRecord) => void
}

export type Decision = {
  approve: boolean
  grant?: { times?: number | undefined; until?: string | undefined; only_path?: boolean | undefined } | undefined
  /** The person has confirmed it where the window cannot draw: a native dialog, or the passphrase on a secure prompt. */
  confirmed: boolean
}
