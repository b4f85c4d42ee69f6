import type { IntentState } from '#shared/contract/intents.ts'

/** Events of an intent's state machine. */
export type IntentEvent =
  /** Created by a requester. */
  | 'ask'
  /** The person, a rule or a grant allowed it, and what it uses up is reserved. */
  | 'approve'
  /** It is allowed, and is signed once the wallet is unlocked. */
  | 'defer'
  /** What allowed it no longer does: the person is asked again. */
  | 'reconsider'
  /** The person or a rule refused it. */
  | 'deny'
  /** The stop switch was turned on. */
  | 'stop'
  /** Whoever asked took it back. */
  | 'withdraw'
  /** The requester's access ended: a client or key was revoked, a chat deleted, an account removed. */
  | 'revoke'
  /** Nobody decided in time. */
  | 'expire'
  /** The wallet locked itself before the signature: the approval stands. */
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

/** @returns undefined where the event means nothing in that state */
export function getNextState(from: IntentState | 'new', event: IntentEvent): IntentState | undefined {
  return transitions[from][event]
}

/** Neither decided for good nor signed. */
export function isOpen(state: IntentState): boolean {
  return Object.keys(transitions[state]).length > 0
}

/** Returns the change of an intent's reservation for a state transition. */
export function getReservationStep(from: IntentState, to: IntentState): 'reserve' | 'commit' | 'giveBack' | undefined {
  if (to === 'approved') return 'reserve'
  if (from !== 'approved') return undefined
  return to === 'signed' ? 'commit' : 'giveBack'
}
