import { AppError } from '../../../shared/appError.ts'
import type { Asker, Grant, IntentRecord, Policy } from '../../../shared/contract/intents.ts'
import type { LocalEvent } from '../../../shared/contract/localApi.ts'
import { isoTime } from '../../../shared/time.ts'
import type { Log } from '../../platform/log.ts'
import type { Note } from '../activity/note.ts'
import type { PreparedIntent, Signer } from '../signer/signer.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import { approvalNotes } from './approvalNotes.ts'
import type { Approvals, Decision } from './approvals.ts'
import type { GrantRepository } from './grantRepository.ts'
import { intentExpiry } from './intentExpiry.ts'
import { isSame, judged, judgedOf, newRecord } from './intentRecord.ts'
import type { IntentRepository, StoredIntent } from './intentRepository.ts'
import { intentSigning } from './intentSigning.ts'
import { intentWatchers } from './intentWatchers.ts'
import { amountOf, isAbove, judge, type Verdict } from './judge.ts'
import { newGrant } from './newGrant.ts'
import { checkRules, loosens } from './policyChange.ts'
import type { PolicyRepository } from './policyRepository.ts'

export type ApprovalEngineOptions = {
  intents: IntentRepository
  grants: GrantRepository
  policies: PolicyRepository
  signer: Signer
  /** Asked for its state outside of transactions only: it may lock itself by that, which is noted. */
  wallet: Pick<WalletKeys, 'isUnlocked' | 'accounts'>
  /** Calls `listener` when the wallet was locked or unlocked. @returns what ends it */
  onWalletChange: (listener: () => void) => () => void
  /** Host and port of the service that the agent is connected to. */
  serviceHost: () => string | undefined
  publish: (event: LocalEvent) => void
  note: Note
  /** Twelve random bytes as hexadecimal. */
  newId: () => string
  now: () => number
  log: Log
}

/** Neither decided nor signed. */
export const openIntentLimits = { all: 100, ofOneAsker: 20 } as const
/** The newest this many are kept. */
export const keptIntents = 2000

export function approvalEngine(options: ApprovalEngineOptions): Approvals {
  const { intents, grants, policies, signer, wallet, serviceHost, publish, newId, now, log } = options
  const notes = approvalNotes(options.note)
  const watchers = intentWatchers()
  let closed = false

  const at = (): string => isoTime(now())
  const tell = (record: IntentRecord): void => {
    publish({ type: 'intent.changed', intent: record })
    watchers.tell(record.id)
  }
  const became = (record: IntentRecord): void => {
    notes.became(record)
    tell(record)
  }
  const signing = intentSigning({
    intents,
    signer,
    isStopped: () => policies.read().stopped,
    isClosed: () => closed,
    became,
    log,
  })
  const expiry = intentExpiry({ intents, now, became })

  const found = (id: string): StoredIntent => {
    if (!closed) expiry.sweep()
    const stored = intents.find(id)
    if (!stored) throw new AppError('intent/not-found', `There is no intent \`${id.slice(0, 64)}\`.`)
    return stored
  }
  const get = (id: string): IntentRecord => found(id).record

  /** Inside a transaction: a grant that allows is used up by one. */
  const verdictOn = (record: IntentRecord, policy: Policy, unlocked: boolean): Verdict => {
    const given = { policy, grants: grants.holding(now()), serviceHost: serviceHost() }
    const verdict = judge(judgedOf(record), given)
    const counted = verdict.effect === 'allow' && verdict.grantId !== undefined && unlocked
    if (counted && !grants.use(verdict.grantId ?? '', now())) return { effect: 'ask' }
    return verdict
  }

  const checkRoom = (asker: Asker): void => {
    const full = intents.countOpen() >= openIntentLimits.all
    if (!full && intents.countOpen(asker) < openIntentLimits.ofOneAsker) return
    const most = full ? `${openIntentLimits.all} requests wait` : `${openIntentLimits.ofOneAsker} of your requests wait`
    throw new AppError('intent/too-many', `${most} for a decision already.`, { retryAfterSeconds: 30 })
  }

  const prepareAgain = async ({ intent, record }: StoredIntent): Promise<PreparedIntent> => {
    const prepared = await signer.prepare(intent)
    if (isSame(record, prepared)) return prepared
    throw new AppError('intent/invalid', 'What would be signed is not what was asked any more.')
  }

  /** The wallet was unlocked: what was allowed meanwhile is judged again, and signed. */
  const resume = async (stored: StoredIntent): Promise<void> => {
    const { record } = stored
    const prepared = await prepareAgain(stored).catch((failure: unknown) => {
      const error = failure instanceof AppError ? failure.message : 'Something went wrong in Steward.'
      const failed: IntentRecord = { ...record, state: 'failed', error }
      if (!closed && intents.change(failed, 'waiting')) became(failed)
    })
    if (!prepared || closed || !wallet.isUnlocked()) return
    const next = intents.atomically(() => {
      const present = intents.find(record.id)?.record
      if (present?.state !== 'waiting' || present.decision === null) return undefined
      const after: IntentRecord =
        present.decision.by === 'person'
          ? { ...present, state: 'approved' }
          : judged(present, verdictOn(present, policies.read(), true), { unlocked: true, at: at() })
      return intents.change(after, 'waiting') ? after : undefined
    })
    if (!next) return
    became(next)
    if (next.state === 'approved') await signing.sign(next, prepared)
  }
  const resumeAll = (): void => {
    if (closed || !wallet.isUnlocked()) return
    expiry.sweep()
    for (const { id, decision } of intents.inState('waiting')) {
      const stored = decision ? intents.find(id) : undefined
      if (stored) resume(stored).catch((failure: unknown) => log.error('an intent was not resumed', { failure }))
    }
  }

  const deny = (record: IntentRecord): IntentRecord => {
    const decision = { by: 'person', detail: 'You denied it.', at: at() } as const
    const denied: IntentRecord = { ...record, state: 'denied', decision, error: 'The person denied it.' }
    if (!intents.change(denied, 'waiting')) throw decidedAlready(get(record.id))
    became(denied)
    return denied
  }

  const mayApprove = (record: IntentRecord, { confirmed, grant, unlocked }: Decision & { unlocked: boolean }): void => {
    if (record.state !== 'waiting') throw decidedAlready(record)
    const policy = policies.read()
    if (policy.stopped) throw new AppError('intent/stopped', 'The stop switch is on.')
    if (!unlocked) throw locked(wallet)
    const above = record.needs_confirmation || isAbove(amountOf(record), policy.confirm_above_micro_usd)
    if (above && grant) {
      throw new AppError('intent/invalid', 'What is above the threshold is approved one at a time.')
    }
    if (above && !confirmed) {
      throw new AppError(
        'intent/confirmation',
        'It is above the threshold, and was not confirmed outside of the window.',
      )
    }
  }

  const start = (): void => {
    intents.setAsideDamaged()
    for (const record of intents.inState('approved')) {
      const failed: IntentRecord = { ...record, state: 'failed', error: 'Steward ended before it was signed.' }
      if (intents.change(failed, 'approved')) became(failed)
    }
    expiry.sweep()
    resumeAll()
  }
  const leaveWallet = options.onWalletChange(resumeAll)
  start()

  return {
    async ask({ intent, asker, reason }) {
      expiry.sweep()
      checkRoom(asker)
      const prepared = await signer.prepare(intent)
      const unlocked = wallet.isUnlocked()
      const record = intents.atomically(() => {
        const policy = policies.read()
        const fresh = newRecord({ id: `int_${newId()}`, prepared, asker, reason }, policy, now())
        const verdict = verdictOn(fresh, policy, unlocked)
        if (verdict.effect !== 'deny') checkRoom(asker)
        const decided = judged(fresh, verdict, { unlocked, at: at() })
        intents.add({ intent: prepared.intent, record: decided })
        intents.forgetOld(keptIntents)
        return decided
      })
      notes.asked(record)
      became(record)
      expiry.plan()
      return record.state === 'approved' ? signing.sign(record, prepared) : record
    },
    async settled(id, { waitMs, signal }) {
      const isOver = () => !['waiting', 'approved'].includes(intents.find(id)?.record.state ?? '')
      get(id)
      await watchers.wait(id, { waitMs, signal, isOver })
      if (closed) throw new AppError('service/unavailable', 'Steward is ending.')
      return get(id)
    },
    get,
    list(filter) {
      expiry.sweep()
      return { intents: intents.list(filter), waiting: intents.countWaiting() }
    },
    cancel(id, asker) {
      const record = get(id)
      if (record.asker.kind !== asker.kind || record.asker.id !== asker.id) {
        throw new AppError('intent/not-found', `There is no intent \`${id.slice(0, 64)}\`.`)
      }
      const gone: IntentRecord = { ...record, state: 'denied', decision: null, error: 'Who asked took it back.' }
      if (!intents.change(gone, 'waiting')) throw decidedAlready(get(id))
      became(gone)
      return gone
    },
    async decide(id, decision) {
      const stored = found(id)
      if (stored.record.state !== 'waiting') throw decidedAlready(stored.record)
      if (!decision.approve) return deny(stored.record)
      mayApprove(stored.record, { ...decision, unlocked: wallet.isUnlocked() })
      const grant = decision.grant && newGrant(stored.record, decision.grant, { id: `grant_${newId()}`, nowMs: now() })
      const prepared = await prepareAgain(stored)
      expiry.sweep()
      const unlocked = wallet.isUnlocked()
      const approved = intents.atomically(() => {
        const present = intents.find(id)?.record ?? stored.record
        mayApprove(present, { ...decision, unlocked })
        const detail = grant ? 'You approved it, and more of it in advance.' : 'You approved it.'
        const next: IntentRecord = { ...present, state: 'approved', decision: { by: 'person', detail, at: at() } }
        if (!intents.change(next, 'waiting')) throw decidedAlready(present)
        if (grant) grants.add(grant)
        return next
      })
      became(approved)
      if (grant) {
        notes.grantAdded(grant, id)
        publish({ type: 'grants.changed' })
      }
      return signing.sign(approved, prepared)
    },
    grants: (): Grant[] => grants.holding(now()),
    revokeGrant(id) {
      if (!grants.remove(id)) throw new AppError('grant/not-found', `There is no grant \`${id.slice(0, 64)}\`.`)
      notes.grantRevoked(id)
      publish({ type: 'grants.changed' })
    },
    checkUnlocked() {
      if (!wallet.isUnlocked()) throw locked(wallet)
    },
    policy: () => policies.read(),
    changePolicy(next) {
      checkRules(next)
      const unlocked = wallet.isUnlocked()
      const policy = intents.atomically(() => {
        const { stopped, ...present } = policies.read()
        if (loosens(present, next) && !unlocked) throw locked(wallet)
        const changed = { ...next, stopped }
        policies.write(changed)
        return changed
      })
      notes.policyChanged(policy)
      publish({ type: 'policy.changed', policy })
      return policy
    },
    switchStop(stopped) {
      const unlocked = wallet.isUnlocked()
      const { policy, denied } = intents.atomically(() => {
        const present = policies.read()
        if (present.stopped && !stopped && !unlocked) throw locked(wallet)
        policies.switchStop(stopped)
        const decision = { by: 'stop', detail: 'The stop switch was turned on.', at: at() } as const
        const halted = (['waiting', 'approved'] as const).flatMap((state) =>
          (stopped ? intents.inState(state) : []).map((record): IntentRecord => {
            const next: IntentRecord = { ...record, state: 'denied', decision, error: decision.detail }
            intents.change(next, state)
            return next
          }),
        )
        return { policy: { ...present, stopped }, denied: halted }
      })
      notes.stopSwitched(stopped, denied.length)
      for (const record of denied) became(record)
      publish({ type: 'policy.changed', policy })
      return policy
    },
    close() {
      closed = true
      leaveWallet()
      expiry.close()
      watchers.close()
    },
  }
}

function decidedAlready({ state }: IntentRecord): AppError {
  if (state === 'expired') return new AppError('intent/decided', 'It has expired.')
  return new AppError('intent/decided', `It was decided meanwhile: it is ${state}.`)
}

function locked(wallet: Pick<WalletKeys, 'accounts'>): AppError {
  if (wallet.accounts().length === 0) return new AppError('wallet/absent', 'There is no wallet yet.')
  return new AppError('wallet/locked', 'The wallet is locked.')
}
