import { randomBytes } from 'node:crypto'
import { ChainError } from '#platform/chain/chainError.ts'
import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { ToolServerId } from '#shared/contract/toolServers.ts'
import { SandboxId } from '#shared/ids.ts'
import { createApprovalEngine } from '../approvals/approvalEngine.ts'
import { createApprovalRoutes } from '../approvals/approvalRoutes.ts'
import type { Approvals } from '../approvals/approvals.ts'
import { createGrantRepository } from '../approvals/grantRepository.ts'
import { createGrantReservations } from '../approvals/grantReservations.ts'
import { createIdempotencyKeyRepository } from '../approvals/idempotencyKeyRepository.ts'
import { createIdempotentSubmissions, type IdempotentSubmissions } from '../approvals/idempotentSubmissions.ts'
import { openIntentLimits } from '../approvals/intentSubmission.ts'
import { limitSubmissions, type RateLimitedSubmissions } from '../approvals/limitSubmissions.ts'
import { createPolicyConfirmation, type PolicyConfirmation } from '../approvals/policyConfirmation.ts'
import type { Reservations } from '../approvals/reservations.ts'
import { startPendingNotifications } from '../approvals/startPendingNotifications.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { combineReservations } from '../budgets/paymentReservations.ts'
import type { ServiceTarget } from '../connections/serviceTarget.ts'
import { createIntentSigner } from '../signer/intentSigner.ts'
import type { Signer } from '../signer/signer.ts'
import { createToolServerRepository } from '../toolServers/toolServerRepository.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import type { AgentContext } from './agentContext.ts'
import type { AuthorityModule } from './composeAuthority.ts'

export type ApprovalModule = {
  approvals: Approvals
  limitedApprovals: RateLimitedSubmissions
  repeats: IdempotentSubmissions
  policy: PolicyConfirmation
  signer: Signer
  endpoints: LocalEndpoint[]
}

type ApprovalOptions = {
  authority: Pick<AuthorityModule, 'principals' | 'presence' | 'verdictOn' | 'mayNow' | 'context' | 'targets'>
  wallet: WalletVault
  serviceTarget: () => ServiceTarget | undefined
  /** Reservations of payments, in addition to those of grants. */
  paymentReservations: Reservations
  beforeSigning: (record: IntentRecord) => Promise<void>
}

/** Events after which a waiting request may have become impossible. */
const reviewEvents: ReadonlySet<LocalEvent['type']> = new Set([
  'domains.changed',
  'tool-servers.changed',
  'chat.changed',
  'payment-budgets.changed',
])

function isClient({ requester }: IntentRecord): boolean {
  return requester.kind === 'client'
}

/** Composes the signer and the approvals that control it. */
export function composeApprovals(
  agentContext: AgentContext,
  { authority, wallet, serviceTarget, paymentReservations, beforeSigning }: ApprovalOptions,
): ApprovalModule {
  const { config, database, events, activity, dialog, removedThings, scope, log, solana, now, clock } = agentContext
  const signer = createIntentSigner({
    keys: wallet,
    domainName: config.identity.domain_name,
    testLedgerOrigin: () => serviceTarget()?.url,
    async solanaBlockHash({ id, name }) {
      const node = solana.find(({ network }) => network.id === id)
      if (!node) throw new AppError('chain/unavailable', `No RPC endpoint is configured for ${name}.`)
      return node.latestBlockHash().catch((cause: unknown) => {
        throw cause instanceof ChainError ? new AppError('chain/unavailable', cause.message, { cause }) : cause
      })
    },
    now,
    randomBytes,
  })
  const { principals, presence, mayNow, context, targets } = authority
  const approvals = scope.own(
    createApprovalEngine({
      database,
      signer,
      wallet,
      onWalletChange: (listener) =>
        events.subscribe((event) => {
          if (event.type === 'wallet.changed') listener()
        }),
      ...{ principals, mayNow, verdictOn: authority.verdictOn },
      refresh: async (record) =>
        void (await Promise.all([targets.refresh(context.targets(record)), isClient(record) && presence.refresh()])),
      reservations: combineReservations([
        paymentReservations,
        createGrantReservations({ grants: createGrantRepository(database), now: clock.latestMs }),
      ]),
      beforeSigning,
      publish: events.publish,
      recordActivity: activity.record,
      newId: () => randomBytes(12).toString('hex'),
      now,
      clock,
      log: log.forArea('approvals'),
    }),
    (it) => it.close(),
  )
  const toolServers = createToolServerRepository(database)
  const endGrantsOfRemovedServers = (): void => {
    for (const target of approvals.grantTargets()) {
      const { data: id } = ToolServerId.safeParse(target)
      if (id && !toolServers.find(id)) approvals.endGrantsFor(id)
    }
  }
  endGrantsOfRemovedServers()
  const unsubscribe = events.subscribe(({ type }) => {
    if (type === 'tool-servers.changed') endGrantsOfRemovedServers()
    if (reviewEvents.has(type)) approvals.review()
    if (type === 'ready') void refreshWaiting()
  })
  scope.own(unsubscribe, (unsubscribe) => unsubscribe())
  /** Checks for deletions that happened while the service was unavailable. */
  const refreshWaiting = async (): Promise<void> => {
    const { intents } = approvals.list({ state: 'waiting', limit: openIntentLimits.all })
    await targets.refresh(intents.flatMap(context.targets))
    approvals.review()
  }
  for (const unsubscribe of [
    removedThings.subscribe({
      kind: 'sandbox',
      referred: () => approvals.grantTargets().filter((target) => SandboxId.safeParse(target).success),
      onRemoved: ({ id }) => approvals.endGrantsFor(id),
    }),
    removedThings.subscribe({ kind: 'domain', onRemoved: ({ id }) => approvals.endGrantsFor(id) }),
  ]) {
    scope.own(unsubscribe, (end) => end())
  }
  const policy = createPolicyConfirmation({ approvals, dialog })
  const limitedApprovals = limitSubmissions(approvals, clock.runningMs)
  const repeats = createIdempotentSubmissions({
    repeats: createIdempotencyKeyRepository(database),
    now: clock.steadyMs,
  })
  if (dialog) scope.own(startPendingNotifications({ dialog, events }), (end) => end())
  const endpoints = createApprovalRoutes({ approvals, limitedApprovals, repeats, dialog, policy })
  return { approvals, limitedApprovals, repeats, policy, signer, endpoints }
}
