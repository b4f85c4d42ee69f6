import { randomBytes, randomUUID } from 'node:crypto'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { createRegistrationRepository } from '../identity/registrationRepository.ts'
import { createRegistrationRoutes } from '../identity/registrationRoutes.ts'
import { createRegistrations } from '../identity/registrations.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import type { AgentContext } from './agentContext.ts'
import type { ApprovalModule } from './composeApprovals.ts'

type IdentityOptions = Pick<ApprovalModule, 'approvals' | 'asks' | 'repeats' | 'signer'> & { wallet: WalletVault }

/** Identities that the person registers. */
export function composeIdentity(
  { database, client, events, activity, scope, log, now }: AgentContext,
  { approvals, asks, repeats, signer, wallet }: IdentityOptions,
): { endpoints: LocalEndpoint[] } {
  const identities = scope.own(
    createRegistrations({
      records: createRegistrationRepository(database),
      approvals: { ...approvals, ask: asks.ask },
      signer,
      keys: wallet,
      client,
      events,
      note: activity.note,
      newUuid: randomUUID,
      newId: () => randomBytes(12).toString('hex'),
      now,
      log: log.forArea('identity'),
    }),
    (it) => it.close(),
  )
  return { endpoints: createRegistrationRoutes(identities, repeats) }
}
