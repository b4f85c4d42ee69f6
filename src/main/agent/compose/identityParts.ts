import { randomBytes, randomUUID } from 'node:crypto'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { registrationRepository } from '../identity/registrationRepository.ts'
import { registrationRoutes } from '../identity/registrationRoutes.ts'
import { registrations } from '../identity/registrations.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import type { AgentGround } from './agentGround.ts'
import type { ApprovalParts } from './approvalParts.ts'

type Given = Pick<ApprovalParts, 'approvals' | 'asks' | 'repeats' | 'signer'> & { wallet: WalletVault }

/** Identities that the person registers. */
export function identityParts(
  { database, client, events, activity, scope, log, now }: AgentGround,
  { approvals, asks, repeats, signer, wallet }: Given,
): { endpoints: LocalEndpoint[] } {
  const identities = scope.own(
    registrations({
      records: registrationRepository(database),
      approvals: { ...approvals, ask: asks.ask },
      signer,
      keys: wallet,
      client,
      events,
      note: activity.note,
      newUuid: randomUUID,
      newId: () => randomBytes(12).toString('hex'),
      now,
      log: log.of('identity'),
    }),
    (it) => it.close(),
  )
  return { endpoints: registrationRoutes(identities, repeats) }
}
