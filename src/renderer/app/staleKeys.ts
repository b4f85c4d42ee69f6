import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { statusKey } from '../api/AgentProvider.tsx'
import { budgetsKey } from '../api/usePaymentBudgets.ts'
import { policyKey } from '../api/usePolicy.ts'
import { renewalsKey } from '../api/useRenewals.ts'
import { toolServersKey } from '../api/useToolServers.ts'
import { walletKey } from '../api/useWallet.ts'
import { recordingsKey } from '../features/activity/recordings/useRecordings.ts'
import { timelineKey } from '../features/activity/useTimeline.ts'
import { chatKeys } from '../features/chat/data/keys.ts'
import { accessKey, creditsKey } from '../features/credits/useCredits.ts'
import { domainsKey } from '../features/domains/useDomains.ts'
import { automatonsKey, registrationsKey } from '../features/identity/useIdentities.ts'
import { imagesKey } from '../features/images/useImages.ts'
import { paymentsKey } from '../features/payments/usePayments.ts'
import { signInWalletKey, walletLinksKey } from '../features/settings/account/useWalletLinks.ts'
import { keysKey } from '../features/settings/keys/useApiKeys.ts'
import { modelsKey } from '../features/settings/models/useModels.ts'
import { modelServersKey, providersKey } from '../features/settings/models/useProviders.ts'
import { grantsKey } from '../features/settings/policies/useGrants.ts'
import { clientsKey } from '../features/settings/tools/useToolClients.ts'
import { sandboxDomainsKey } from '../ui/sandboxes/useSandboxDomains.ts'

/**
 * Queries invalidated by each event type. The open section refetches its queries on the event; others are refetched
 * when their section opens. Sandboxes, terminals and the inbox are omitted because they are patched app-wide.
 */
export const staleKeys: Readonly<Record<LocalEvent['type'], readonly QueryKey[]>> = {
  ready: [[]],
  'sandbox.changed': [['ports'], ['exposed ports'], sandboxDomainsKey],
  'sandbox.removed': [['ports'], ['exposed ports'], ['snapshots'], sandboxDomainsKey],
  'snapshots.changed': [['snapshots']],
  'image.changed': [imagesKey],
  'image.removed': [imagesKey],
  'terminal.changed': [],
  'terminal.removed': [],
  'terminal.output': [],
  'terminal.called': [],
  'terminal.typed': [],
  'activity.noted': [keysKey, accessKey, clientsKey, walletLinksKey],
  'things.removed': [],
  'automatons.changed': [automatonsKey],
  'models.changed': [modelsKey, chatKeys.models],
  'credits.changed': [creditsKey],
  'domains.changed': [domainsKey, renewalsKey],
  'account-requests.changed': [],
  'connection.changed': [statusKey, domainsKey, signInWalletKey],
  'wallet.changed': [walletKey, renewalsKey, ['local', 'balances'], walletLinksKey, signInWalletKey],
  'intent.changed': [['chat', 'intent']],
  'intent.show': [],
  'policy.changed': [policyKey],
  'grants.changed': [grantsKey],
  'providers.changed': [providersKey, modelServersKey, chatKeys.models],
  'tool-servers.changed': [toolServersKey],
  'payment.changed': [paymentsKey, budgetsKey],
  'payment-budgets.changed': [budgetsKey, renewalsKey],
  'registration.changed': [registrationsKey],
  'local-domains.changed': [domainsKey, renewalsKey],
  'domain-renewals.changed': [renewalsKey],
  'domains.told': [],
  'timeline.appended': [timelineKey, recordingsKey],
  'chat.changed': [chatKeys.all],
  'prompts.changed': [chatKeys.prompts],
  'chat.spend': [chatKeys.all, budgetsKey],
}

/** Invalidates queries without observers, so that they are refetched on next use. */
export function markStale(queryClient: QueryClient, event: LocalEvent): void {
  for (const queryKey of staleKeys[event.type]) {
    for (const query of queryClient.getQueryCache().findAll({ queryKey, type: 'inactive' })) {
      query.invalidate()
      // A fetch in flight may have started before the change. Its caller still receives the result.
      query.promise?.then(
        () => query.invalidate(),
        () => {},
      )
    }
  }
}
