import { AppError } from '#shared/appError.ts'
import type { Requester } from '#shared/contract/intents.ts'
import type { EvaluateAction, Refusal } from '../base/evaluateAction.ts'
import type { Signer } from '../signer/signer.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import type { Approvals } from './approvals.ts'
import type { PolicyEvaluation } from './evaluateIntent.ts'
import type { IntentEvaluation } from './intentEvaluation.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'
import { createIntentRecord } from './intentRecord.ts'
import type { IntentRepository } from './intentRepository.ts'
import type { IntentSigning } from './intentSigning.ts'
import type { IntentRetention } from './intentStateRepository.ts'
import type { PolicyRepository } from './policyRepository.ts'
import { isWalletRequired } from './toPolicyInput.ts'

/** Maximum numbers of open intents, which are neither decided nor signed. */
export const openIntentLimits = { all: 100, ofOneRequester: 20 } as const
const retention: IntentRetention = { ofPerson: 2000, ofOneRequester: 500, ofAllRequesters: 5000 }

type Options = {
  lifecycle: IntentLifecycle
  intents: Pick<IntentRepository, 'countOpen'>
  policies: Pick<PolicyRepository, 'read'>
  evaluation: IntentEvaluation
  mayNow: EvaluateAction
  signing: Pick<IntentSigning, 'sign'>
  signer: Pick<Signer, 'prepare'>
  wallet: Pick<WalletKeys, 'isUnlocked'>
  /** Expires overdue intents, which frees capacity. */
  expireDue: () => void
  newId: () => string
  now: () => number
}

/** Returns the verdict stored with a refused request, or undefined if the request is not stored. */
function toDenial({ by, error }: Refusal): PolicyEvaluation | undefined {
  if (by === 'limits') return { effect: 'deny', by: 'policy', detail: error.message }
  return by === 'stop' || by === 'policy' || by === 'steward'
    ? { effect: 'deny', by, detail: error.message }
    : undefined
}

/** Creates intents and evaluates each one immediately: signed, denied or waiting for the user. */
export function createIntentSubmission(options: Options): Pick<Approvals, 'submit' | 'preview'> {
  const { lifecycle, intents, policies, evaluation, mayNow, signing, signer, wallet, expireDue, newId, now } = options

  const assertCapacity = (requester: Requester): void => {
    const full = intents.countOpen() >= openIntentLimits.all
    if (!full && intents.countOpen(requester) < openIntentLimits.ofOneRequester) return
    const limitText = full ? `${openIntentLimits.all} requests` : `${openIntentLimits.ofOneRequester} of your requests`
    throw new AppError('intent/too-many', `${limitText} are already waiting for a decision.`, { retryAfterSeconds: 30 })
  }

  return {
    async preview({ intent, requester }) {
      const prepared = await signer.prepare(intent)
      const record = createIntentRecord({ id: '', prepared, requester, reason: undefined }, policies.read(), now())
      const refusal = mayNow({ request: record })
      return refusal ? { effect: 'deny', detail: refusal.error.message } : evaluation.verdictOn(record)
    },
    async submit({ intent, requester, reason, purchase, needsPerson, onStored }) {
      expireDue()
      assertCapacity(requester)
      const prepared = await signer.prepare(intent)
      const unlocked = !isWalletRequired(prepared.intent.kind) || wallet.isUnlocked()
      const record = lifecycle.atomically(() => {
        const fresh = createIntentRecord(
          { id: `int_${newId()}`, prepared, requester, reason, purchase },
          policies.read(),
          now(),
        )
        const refusal = mayNow({ request: fresh })
        const denial = refusal && toDenial(refusal)
        if (refusal && !denial) throw refusal.error
        const judged = denial ?? evaluation.verdictOn(fresh)
        const verdict = needsPerson && judged.effect === 'allow' ? { effect: 'ask' as const } : judged
        if (verdict.effect !== 'deny') assertCapacity(requester)
        const submitted = lifecycle.submit({ intent: prepared.intent, record: fresh })
        const settled = evaluation.settleFirst(submitted, verdict, { unlocked })
        onStored?.(settled)
        lifecycle.forgetOld(requester, retention)
        return settled
      })
      return record.state === 'approved' ? signing.sign(record.id, prepared) : record
    },
  }
}
