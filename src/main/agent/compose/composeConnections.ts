import { type CredentialAuthenticator, createCredentialAuthenticator } from '../api/credentialAuthenticator.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { createHostedSession } from '../connections/hostedSession.ts'
import { createServiceClient } from '../connections/serviceClient.ts'
import type { ServiceTarget } from '../connections/serviceTarget.ts'
import { createSignInWalletRepository } from '../connections/signInWalletRepository.ts'
import { createWalletLinker } from '../connections/walletLinker.ts'
import { createWalletLinkRepository } from '../connections/walletLinkRepository.ts'
import { createWalletLinkRoutes } from '../connections/walletLinkRoutes.ts'
import { createWalletSignIn } from '../connections/walletSignIn.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import type { AgentContext } from './agentContext.ts'

type ConnectionOptions = { wallet: WalletVault; approvals: Approvals; serviceTarget: () => ServiceTarget | undefined }

export type ConnectionModule = Pick<CredentialAuthenticator, 'identifyClient'> & { endpoints: LocalEndpoint[] }

/** Composes sign-ins of the wallet at the service, and the service's keys at the local API. */
export function composeConnections(
  { database, link, hosted, events, client, activity, scope, log, clock }: AgentContext,
  { wallet, approvals, serviceTarget }: ConnectionOptions,
): ConnectionModule {
  const { record: recordActivity } = activity
  const visitor = scope.own(createServiceClient(serviceTarget), (it) => it.close())
  const messages = createWalletSignIn({ client: visitor, target: serviceTarget, approvals })
  const signInLog = log.forArea('sign-in')
  const linked = scope.own(
    createWalletLinker({
      ...{ link, events, client, wallet, messages, recordActivity },
      records: createWalletLinkRepository(database),
      log: signInLog,
    }),
    (it) => it.close(),
  )
  const signIn =
    hosted &&
    scope.own(
      createHostedSession({
        ...{ endpoint: hosted, link, events, client: visitor, wallet, messages, recordActivity, now: clock.steadyMs },
        records: createSignInWalletRepository(database),
        findUnlinkedAt: linked.waitUntilSettled,
        log: signInLog,
      }),
      (it) => it.close(),
    )
  const clients = createCredentialAuthenticator({ client, target: link.target, now: clock.runningMs })
  const forgetClients = link.subscribe((event) => {
    if (event.type === 'activity.noted') clients.forget()
  })
  scope.own(forgetClients, (unsubscribe) => unsubscribe())
  return { identifyClient: clients.identifyClient, endpoints: createWalletLinkRoutes({ linked, signIn, wallet }) }
}
