import type { AgentGround } from './agentGround.ts'
import { type LocalClients, localClients } from './api/localClients.ts'
import type { Approvals } from './approvals/approvals.ts'
import { hostedService } from './connections/hostedService.ts'
import { linkedWallets } from './connections/linkedWallets.ts'
import { serviceClient } from './connections/serviceClient.ts'
import type { ServiceTarget } from './connections/serviceTarget.ts'
import { walletMessages } from './connections/walletMessages.ts'
import type { WalletVault } from './wallet/walletVault.ts'

type Given = { wallet: WalletVault; approvals: Approvals; serviceTarget: () => ServiceTarget | undefined }

/** How the wallet makes itself known to the service, and how the service's keys are known here. */
export function connectionParts(
  { link, hosted, events, client, activity, scope, log, now }: AgentGround,
  { wallet, approvals, serviceTarget }: Given,
): Pick<LocalClients, 'clientOf'> {
  const visitor = scope.own(serviceClient(serviceTarget), (it) => it.close())
  const messages = walletMessages({ client: visitor, target: serviceTarget, approvals })
  const signInLog = log.of('sign-in')
  if (hosted) {
    scope.own(
      hostedService({ place: hosted, link, events, client: visitor, wallet, messages, now, log: signInLog }),
      (it) => it.close(),
    )
  }
  scope.own(linkedWallets({ link, events, client, wallet, messages, note: activity.note, log: signInLog }), (it) =>
    it.close(),
  )
  const clients = localClients({ client, target: link.target, now })
  const forgetClients = link.subscribe((event) => {
    if (event.type === 'activity.noted') clients.forget()
  })
  scope.own(forgetClients, (leave) => leave())
  return { clientOf: clients.clientOf }
}
