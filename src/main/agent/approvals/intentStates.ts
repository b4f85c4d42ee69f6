import type { IntentState } from '#shared/contract/intents.ts'

/** Events of an intent's state machine. */
export type IntentEvent =
  /** A requester submitted the intent. */
  | 'ask'
  /** The user, a rule or a grant allowed the intent, and the limits that it consumes are reserved. */
  | 'approve'
  /** The intent is allowed and will be signed once the wallet is unlocked. */
  | 'defer'
  /** The reason for the approval no longer applies, so the user is asked again. */
  | 'reconsider'
  /** The user or a rule denied the intent. */
  | 'deny'
  /** The stop switch was turned on. */
  | 'stop'
  /** The requester withdrew the intent. */
  | 'withdraw'
  /** The requester's access ended: a client or key was revoked, a chat deleted, an account removed. */
  | 'revoke'
  /** The deadline passed without a decision. */
  | 'expire'
  /** The wallet locked before the signature. The approval remains valid. */
  | 'lock'
  | 'sign'
  | 'fail'

/** Transitions by state; `new` is the state before storage. States without transitions are final. */
const transitions: Readonly<Record<IntentState | 'new', Readonly<Partial<Record<IntentEvent, IntentState>>>>> = {
  new: { ask: 'waiting' },
  waiting: {
    approve: 'approved',
    defer: 'waiting',
    reconsider: 'waiting',
    deny: 'denied',
    stop: 'denied',
    withdraw: 'denied',
    revoke: 'denied',
    expire: 'expired',
    fail: 'failed',
  },
  approved: { sign: 'signed', lock: 'waiting', stop: 'denied', revoke: 'denied', fail: 'failed' },
  signed: {},
  denied: {},
  expired: {},
  failed: {},
}

/** @returns the next state, or undefined if the event has no transition from the current state */
export function getNextState(from: IntentState | 'new', event: IntentEvent): IntentState | undefined {
  return transitions[from][event]
}

/** Whether the intent is neither finally decided nor signed. */
export function isOpen(state: IntentState): boolean {
  return Object.keys(transitions[state]).length > 0
}

export function getReservationStep(from: IntentState, to: IntentState): 'reserve' | 'commit' | 'giveBack' | undefined {
  if (to === 'approved') return 'reserve'
  if (from !== 'approved') return undefined
  return to === 'signed' ? 'commit' : 'giveBack'
}
