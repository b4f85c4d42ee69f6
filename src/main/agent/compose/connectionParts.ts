import { type LocalClients, localClients } from '../api/localClients.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { hostedService } from '../connections/hostedService.ts'
import { linkedWallets } from '../connections/linkedWallets.ts'
import { serviceClient } from '../connections/serviceClient.ts'
import type { ServiceTarget } from '../connections/serviceTarget.ts'
import { signInWalletRepository } from '../connections/signInWalletRepository.ts'
import { walletLinkRepository } from '../connections/walletLinkRepository.ts'
import { walletLinkRoutes } from '../connections/walletLinkRoutes.ts'
import { walletMessages } from '../connections/walletMessages.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import type { AgentGround } from './agentGround.ts'

type Given = { wallet: WalletVault; approvals: Approvals; serviceTarget: () => ServiceTarget | undefined }

export type ConnectionParts = Pick<LocalClients, 'clientOf'> & { endpoints: LocalEndpoint[] }

/** Wires sign-ins of the wallet at the service, and the service's keys at the local API. */
export function connectionParts(
  { database, link, hosted, events, client, activity, scope, log, clock }: AgentGround,
  { wallet, approvals, serviceTarget }: Given,
): ConnectionParts {
  const { note } = activity
  const visitor = scope.own(serviceClient(serviceTarget), (it) => it.close())
  const messages = walletMessages({ client: visitor, target: serviceTarget, approvals })
  const signInLog = log.of('sign-in')
  const linked = scope.own(
    linkedWallets({
      ...{ link, events, client, wallet, messages, note },
      records: walletLinkRepository(database),
      log: signInLog,
    }),
    (it) => it.close(),
  )
  const signIn =
    hosted &&
    scope.own(
      hostedService({
        ...{ place: hosted, link, events, client: visitor, wallet, messages, note, now: clock.steadyMs },
        records: signInWalletRepository(database),
        unlinked: linked.settled,
        log: signInLog,
      }),
      (it) => it.close(),
    )
  const clients = localClients({ client, target: link.target, now: clock.runningMs })
  const forgetClients = link.subscribe((event) => {
    if (event.type === 'activity.noted') clients.forget()
  })
  scope.own(forgetClients, (leave) => leave())
  return { clientOf: clients.clientOf, endpoints: walletLinkRoutes({ linked, signIn, wallet }) }
}
