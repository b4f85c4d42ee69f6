import type { IntentRecord } from '#shared/contract/intents.ts'
import { evaluateIntent, type PolicyEvaluation } from './evaluateIntent.ts'
import type { GrantRepository } from './grantRepository.ts'
import type { PolicyRepository } from './policyRepository.ts'
import { toPolicyInput } from './toPolicyInput.ts'

type Options = {
  grants: Pick<GrantRepository, 'holding'>
  policies: Pick<PolicyRepository, 'read'>
  /** Host and port of the connected service. */
  serviceHost: () => string | undefined
  now: () => number
}

/** Creates a function that evaluates the current stop switch, rules and remembered approvals. */
export function createPolicyEvaluator({
  grants,
  policies,
  serviceHost,
  now,
}: Options): (record: IntentRecord) => PolicyEvaluation {
  return (record) =>
    evaluateIntent(toPolicyInput(record), {
      policy: policies.read(),
      grants: grants.holding(now()),
      serviceHost: serviceHost(),
    })
}
