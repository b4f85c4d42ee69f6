import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createApprovalEngine } from '#agent/approvals/approvalEngine.ts'
import type { SubmitRequest } from '#agent/approvals/approvals.ts'
import { createGrantRepository } from '#agent/approvals/grantRepository.ts'
import { createIdempotencyKeyRepository } from '#agent/approvals/idempotencyKeyRepository.ts'
import { createIdempotentSubmissions, type OnStored } from '#agent/approvals/idempotentSubmissions.ts'
import { createPolicyEvaluator } from '#agent/approvals/policyEvaluator.ts'
import { createPolicyRepository } from '#agent/approvals/policyRepository.ts'
import type { Reservations } from '#agent/approvals/reservations.ts'
import { type LeaseHolder, type PrincipalRights, toEndedError } from '#agent/base/agentPrincipals.ts'
import type { LocalCall } from '#agent/base/localEndpoint.ts'
import type { NewActivityEntry } from '#agent/base/recordActivity.ts'
import { createMayNow } from '#agent/compose/mayNow.ts'
import { createPrincipals, type PrincipalId } from '#platform/access/principals.ts'
import { silentLog } from '#platform/logging/log.ts'
import type { Clock } from '#platform/time/clock.ts'
import type { Intent, IntentRecord, Policy, PolicyRule, Requester } from '#shared/contract/intents.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createLockableSigner, type LockableSigner } from './lockableSigner.ts'
import { temporaryFolder } from './temporaryFolder.ts'

type Options = {
  file?: string
  signer?: LockableSigner
  now?: () => number
  clock?: Clock
  serviceHost?: string
  /** Revoked requesters and removed accounts. */
  ended?: readonly PrincipalId[]
  beforeSigning?: (record: IntentRecord) => Promise<void>
  reservations?: Reservations | ((database: Database) => Reservations)
  /** Receives each event in addition to the event log. */
  publish?: (event: LocalEvent) => void
}

/** Opens an agent's approvals on a separate database. Pass `file` to reuse the database after a restart. */
export function openApprovals({
  file = join(temporaryFolder('approvals'), 'agent.sqlite'),
  now = Date.now,
  clock,
  signer = createLockableSigner({ now }),
  serviceHost,
  ended: endedBefore = [],
  beforeSigning,
  reservations,
  publish,
}: Options = {}) {
  const database = openDatabase(file)
  let open = true
  migrate(database, agentMigrations)
  const events: LocalEvent[] = []
  const notes: NewActivityEntry[] = []
  const policies = createPolicyRepository(database)
  const verdictOn = createPolicyEvaluator({
    grants: createGrantRepository(database),
    policies,
    serviceHost: () => serviceHost,
    now,
  })
  const ended = new Set<PrincipalId>(endedBefore)
  const rightsOf = (principal: PrincipalId) => (ended.has(principal) ? undefined : {})
  const principals = createPrincipals<PrincipalRights, LeaseHolder>({ getRights: rightsOf, endedError: toEndedError })
  const mayNow = createMayNow({
    ...{ getRights: rightsOf, verdictOn, now },
    isStopped: () => policies.read().stopped,
    context: { call: () => undefined, payingTool: () => undefined, targets: () => [] },
    budgetRefusal: () => undefined,
    limitRefusal: () => undefined,
    isRemoved: () => false,
  })
  const approvals = createApprovalEngine({
    database,
    signer,
    wallet: signer.wallet,
    onWalletChange: signer.onWalletChange,
    ...{ principals, verdictOn, mayNow },
    publish(event) {
      events.push(event)
      publish?.(event)
    },
    note: (entry) => void notes.push(entry),
    newId: () => randomBytes(12).toString('hex'),
    now,
    ...(clock && { clock }),
    ...(beforeSigning && { beforeSigning }),
    log: silentLog,
    ...(reservations && { reservations: typeof reservations === 'function' ? reservations(database) : reservations }),
  })
  const repeats = createIdempotentSubmissions({ repeats: createIdempotencyKeyRepository(database), now })
  return {
    approvals,
    repeats,
    /** Sends an `Idempotency-Key`, which the route requires. */
    async askOnce(request: SubmitRequest, repeatable: LocalCall['repeatable']) {
      const headers: Record<string, string> = {}
      const call = {
        requester: request.requester,
        repeatable,
        setHeader: (name: string, value: string) => void Object.assign(headers, { [name]: value }),
      }
      const ask = async (onStored: OnStored) => (await approvals.ask({ ...request, onStored })).id
      const record = approvals.get(await repeats.once(call, ask))
      return { record, replayed: headers['idempotent-replayed'] === 'true' }
    },
    signer,
    database,
    principals,
    /** Revokes a requester or removes an account. */
    endPrincipal(principal: PrincipalId) {
      ended.add(principal)
      principals.end(principal)
    },
    events,
    notes,
    kinds: () => notes.map(({ kind }) => kind),
    published: (): IntentRecord['state'][] =>
      events.flatMap((event) => (event.type === 'intent.changed' ? [event.intent.state] : [])),
    /** Idempotent. */
    close() {
      if (!open) return
      open = false
      approvals.close()
      database.close()
    },
  }
}

/** Opens approvals that are closed at the end of the test. */
export function approvalsOfTest(options?: Options): ReturnType<typeof openApprovals> {
  const approvals = openApprovals(options)
  onTestFinished(approvals.close)
  return approvals
}

export const script: Requester = { kind: 'client', id: 'key:1', name: 'Build agent' }
export const otherScript: Requester = { kind: 'client', id: 'key:2', name: 'Deploy agent' }
export const person: Requester = { kind: 'person', id: 'person', name: 'You' }
export const agent: Requester = { kind: 'agent', id: 'agent', name: 'Steward' }

export function signInTo(domain: string): Intent {
  return { kind: 'siwe', domain, uri: `https://${domain}/`, nonce: 'abcdefgh12345678', chain_id: 8453 }
}

export function payment(
  amount: string,
  host = 'shop.example',
  network = 'base',
): Extract<Intent, { kind: 'x402.authorize' }> {
  const pay_to = '0x2222222222222222222222222222222222222222'
  return { kind: 'x402.authorize', network, pay_to, amount, resource: `https://${host}/a`, valid_seconds: 300 }
}

export const message: Intent = { kind: 'message', text: 'Hello', chain_type: 'evm' }

export function rule(fields: Partial<PolicyRule> & Pick<PolicyRule, 'effect'>): PolicyRule {
  return { id: 'r1', kind: '*', requester: '*', host: '*', max_amount_micro_usd: null, ...fields }
}

export function withRules(rules: PolicyRule[]): Omit<Policy, 'stopped'> {
  return { rules, confirm_above_micro_usd: '10000000', expiry_minutes: 15 }
}
