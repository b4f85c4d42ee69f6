import type { IntentRecord } from '#shared/contract/intents.ts'
import type { GrantRepository } from './grantRepository.ts'
import { evaluateIntent, type Verdict } from './judge.ts'
import type { PolicyRepository } from './policyRepository.ts'
import { toPolicyInput } from './toPolicyInput.ts'

type Options = {
  grants: Pick<GrantRepository, 'holding'>
  policies: Pick<PolicyRepository, 'read'>
  /** Host and port of the service that the agent is connected to. */
  serviceHost: () => string | undefined
  now: () => number
}

/** Evaluates the stop switch, the rules and the remembered approvals of this moment. */
export function createVerdicts({ grants, policies, serviceHost, now }: Options): (record: IntentRecord) => Verdict {
  return (record) =>
    evaluateIntent(toPolicyInput(record), {
      policy: policies.read(),
      grants: grants.holding(now()),
      serviceHost: serviceHost(),
    })
}
