import { useState } from 'react'
import type { Policy } from '#shared/contract/intents.ts'
import { diffPolicies } from './policyChanges.ts'
import { type PolicyDraft, type SavedPolicy, toPolicyDraft, toSavedPolicy, validatePolicyDraft } from './policyDraft.ts'

/** Edits of the user based on the current policy. Follows the policy while there are no edits. */
export function usePolicyDraft(policy: Policy) {
  const [base, setBase] = useState<SavedPolicy>(policy)
  const [written, setWritten] = useState<PolicyDraft>()
  const draft = written ?? toPolicyDraft(policy)
  const edited = toSavedPolicy(draft)
  const start = (next: SavedPolicy) => {
    setBase(next)
    setWritten(undefined)
  }
  return {
    draft,
    /** Edited policy; undefined while a field is invalid. */
    wanted: edited,
    faults: validatePolicyDraft(draft),
    changes: edited === undefined ? [] : diffPolicies(policy, edited),
    isWritten: written !== undefined && (edited === undefined || !isSame(edited, policy)),
    /** Whether another window or a script has saved a different policy since editing started. */
    isOvertaken: written !== undefined && !isSame(base, policy),
    change(part: Partial<PolicyDraft>) {
      if (written === undefined) setBase(policy)
      setWritten({ ...draft, ...part })
    },
    discard: () => start(policy),
    saved: start,
  }
}

function isSame(a: SavedPolicy, b: SavedPolicy): boolean {
  const serialize = ({ rules, confirm_above_micro_usd, expiry_minutes }: SavedPolicy) =>
    JSON.stringify([
      rules.map(({ id, effect, kind, requester, host, max_amount_micro_usd }) => [
        id,
        effect,
        kind,
        requester,
        host,
        max_amount_micro_usd,
      ]),
      confirm_above_micro_usd,
      expiry_minutes,
    ])
  return serialize(a) === serialize(b)
}
