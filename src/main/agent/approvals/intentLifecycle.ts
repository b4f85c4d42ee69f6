import type { IntentRecord, IntentState } from '#shared/contract/intents.ts'
import type { TimelineEntry } from '#shared/contract/timeline.ts'
import { createEmitter } from '#shared/emitter.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { createIntentRepository, type IntentRepository, type StoredIntent } from './intentRepository.ts'
import { createIntentStateRepository, type IntentRetention } from './intentStateRepository.ts'
import { getNextState, getReservationStep, type IntentEvent } from './intentStates.ts'
import type { ReservationRefusal, Reservations } from './reservations.ts'
import { toPolicyInput } from './toPolicyInput.ts'

export type TimelineActor = TimelineEntry['actor']

/** Fields of a record that an event may change besides its state. */
export type IntentChange = Partial<Pick<IntentRecord, 'decision' | 'result' | 'error' | 'needs_confirmation'>> & {
  /** Whether the user confirmed the approval outside the window's content. Omitted to leave it unchanged. */
  confirmed?: boolean
  /** Actor for the activity log. Defaults to the decider. */
  actor?: TimelineActor
}
type Decision = NonNullable<IntentRecord['decision']>
export type IntentApproval = { record: IntentRecord } | { refusal: ReservationRefusal }
export type ChangedIntent = {
  record: IntentRecord
  /** Record before the transaction, or undefined if the intent was submitted within it. */
  before: IntentRecord | undefined
  actor?: TimelineActor | undefined
}

/**
 * Only writer of intents and their states. An event without a transition from the current state changes nothing.
 * Consumed limits are reserved, committed and released in the transaction that changes the state.
 */
export type IntentLifecycle = Pick<IntentRepository, 'find' | 'inState'> & {
  /** Runs work in one transaction, including nested calls. Listeners are notified after the commit. */
  atomically<T>(work: () => T): T
  /** Runs work after the current transaction commits, before listeners are notified of later changes. */
  afterwards(work: () => void): void
  /** Stores a submission in the waiting state. */
  submit(submission: Pick<StoredIntent, 'intent' | 'record'>): IntentRecord
  /**
   * @returns the approval, or undefined if the intent is no longer waiting. A refused reservation leaves it waiting.
   */
  approve(id: string, change: IntentChange & { decision: Decision }): IntentApproval | undefined
  /**
   * @returns the updated record, or undefined if the event has no transition from its state, in which case nothing
   * changes
   */
  apply(id: string, event: Exclude<IntentEvent, 'ask' | 'approve'>, change?: IntentChange): IntentRecord | undefined
  /** Renames the requester of waiting requests, for example when the user renames a chat. */
  renameRequester(requesterId: string, name: string): void
  /** Fails open intents that cannot be parsed, which are never signed. */
  failDamaged(): void
  /** Moves the deadlines of waiting requests after the clock was set. */
  moveDeadlines(byMs: number): void
  forgetOld(requester: IntentRecord['requester'], keep: IntentRetention): void
  /** Reports every change, once per intent and transaction. @returns the unsubscribe function */
  subscribe(listener: (changed: ChangedIntent) => void): () => void
}

type Options = { database: Database; reservations: Reservations }

export function createIntentLifecycle({ database, reservations }: Options): IntentLifecycle {
  const { find, inState } = createIntentRepository(database)
  const rows = createIntentStateRepository(database)
  const transactions = createIntentTransactions(database)
  const { atomically, recordChange } = transactions

  const settle = (id: string, from: IntentState, to: IntentState): void => {
    const step = getReservationStep(from, to)
    if (step === 'commit') reservations.commit(id)
    if (step === 'giveBack') reservations.giveBack(id)
  }
  const become = (
    stored: StoredIntent,
    state: IntentState,
    { confirmed, actor, ...rest }: IntentChange,
  ): IntentRecord => {
    const from = stored.record.state
    const record: IntentRecord = { ...stored.record, ...rest, state }
    if (!rows.change({ record, confirmed: confirmed ?? stored.confirmed }, from)) {
      throw new Error(`Intent ${record.id} is no longer ${from} within one transaction.`)
    }
    settle(record.id, from, state)
    recordChange({ record, before: stored.record, actor })
    return record
  }

  return {
    find,
    inState,
    atomically,
    afterwards: transactions.afterwards,
    submit: ({ intent, record }) =>
      atomically(() => {
        const state = getNextState('new', 'ask') ?? record.state
        const initial: IntentRecord = { ...record, state }
        rows.add({ intent, record: initial, confirmed: false })
        recordChange({ record: initial, before: undefined })
        return initial
      }),
    approve: (id, change) =>
      atomically(() => {
        const stored = find(id)
        const to = stored && getNextState(stored.record.state, 'approve')
        if (!stored || !to) return undefined
        const refusal = reservations.reserve({ ...toPolicyInput(stored.record), id, by: change.decision.by })
        return refusal ? { refusal } : { record: become(stored, to, change) }
      }),
    apply: (id, event, change = {}) =>
      atomically(() => {
        const stored = find(id)
        const to = stored && getNextState(stored.record.state, event)
        return stored && to ? become(stored, to, change) : undefined
      }),
    renameRequester: (requesterId, name) =>
      atomically(() => {
        for (const { id, requester } of inState('waiting')) {
          const stored = requester.id === requesterId && requester.name !== name ? find(id) : undefined
          if (!stored) continue
          const record: IntentRecord = { ...stored.record, requester: { ...requester, name } }
          if (!rows.change({ record, confirmed: stored.confirmed }, 'waiting')) continue
          recordChange({ record, before: stored.record })
        }
      }),
    failDamaged: () =>
      atomically(() => {
        for (const { id, state: from } of rows.open()) {
          const to = getNextState(from, 'fail')
          if (!to || find(id)) continue
          rows.setState(id, { from, to })
          settle(id, from, to)
        }
      }),
    moveDeadlines: rows.moveDeadlines,
    forgetOld: rows.forgetOld,
    subscribe: transactions.subscribe,
  }
}

type IntentTransactions = Pick<IntentLifecycle, 'atomically' | 'afterwards' | 'subscribe'> & {
  /** Adds a change to the current transaction. A later change of the same intent only replaces its record. */
  recordChange(change: ChangedIntent): void
}

function createIntentTransactions(database: Database): IntentTransactions {
  const changes = createEmitter<ChangedIntent>()
  /** Callbacks to run when the current transaction commits. */
  let after: (() => void)[] | undefined
  let changed = new Map<string, ChangedIntent>()

  return {
    atomically(work) {
      if (after) return work()
      const mine: (() => void)[] = []
      after = mine
      changed = new Map()
      try {
        const answer = database.transaction(work).immediate()
        after = undefined
        for (const notify of mine) notify()
        return answer
      } finally {
        after = undefined
      }
    },
    afterwards(work) {
      if (!after) throw new Error('There is no transaction to wait for.')
      after.push(work)
    },
    recordChange({ record, before, actor }) {
      const earlier = changed.get(record.id)
      if (earlier) {
        Object.assign(earlier, { record, actor })
        return
      }
      const change: ChangedIntent = { record, before, actor }
      changed.set(record.id, change)
      after?.push(() => changes.emit(change))
    },
    subscribe: changes.subscribe,
  }
}
