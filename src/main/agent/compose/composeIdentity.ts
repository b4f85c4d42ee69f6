import { randomBytes, randomUUID } from 'node:crypto'
import { toEndedError, toRequesterPrincipal, toWalletPrincipal } from '../base/agentPrincipals.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { createRegistrationRepository } from '../identity/registrationRepository.ts'
import { createRegistrationRoutes } from '../identity/registrationRoutes.ts'
import { createRegistrations } from '../identity/registrations.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import type { AgentContext } from './agentContext.ts'
import type { ApprovalModule } from './composeApprovals.ts'
import type { AuthorityModule } from './composeAuthority.ts'

type IdentityOptions = Pick<ApprovalModule, 'approvals' | 'limitedApprovals' | 'repeats' | 'signer'> &
  Pick<AuthorityModule, 'getRights'> & { wallet: WalletVault }

export function composeIdentity(
  { database, client, events, activity, scope, log, now }: AgentContext,
  { approvals, limitedApprovals, repeats, signer, getRights, wallet }: IdentityOptions,
): { endpoints: LocalEndpoint[] } {
  const identities = scope.own(
    createRegistrations({
      records: createRegistrationRepository(database),
      approvals: { ...approvals, submit: limitedApprovals.submit },
      signer,
      keys: wallet,
      client,
      events,
      recordActivity: activity.record,
      findEnd({ requester, account_id: account }) {
        const principals = [toRequesterPrincipal(requester), toWalletPrincipal(account)]
        const ended = principals.find((principal) => getRights(principal) === undefined)
        return ended && toEndedError(ended)
      },
      newUuid: randomUUID,
      newId: () => randomBytes(12).toString('hex'),
      now,
      log: log.forArea('identity'),
    }),
    (it) => it.close(),
  )
  return { endpoints: createRegistrationRoutes(identities, repeats) }
}
