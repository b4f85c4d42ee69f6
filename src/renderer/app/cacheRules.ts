import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { ConversationId } from '#shared/contract/chats.ts'
import type { LocalEvent, LocalEventOf } from '#shared/contract/localApi.ts'
import { patchConnection, statusKey } from '../api/AgentProvider.tsx'
import {
  patchChangedSandbox,
  patchChangedTerminal,
  patchRemovedSandbox,
  patchRemovedTerminal,
} from '../api/listPatches.ts'
import { exposedPortsKey, sandboxesKey } from '../api/sandboxes/useSandboxes.ts'
import { allTerminalsKey } from '../api/terminals/useTerminals.ts'
import { budgetsKey } from '../api/usePaymentBudgets.ts'
import { patchPolicy, policyKey } from '../api/usePolicy.ts'
import { renewalsKey } from '../api/useRenewals.ts'
import { toolServersKey } from '../api/useToolServers.ts'
import { balancesKey, walletKey } from '../api/useWallet.ts'
import { recordingListKey, recordingsKey } from '../features/activity/recordings/useRecordings.ts'
import { tasksKey } from '../features/activity/task/useTask.ts'
import { timelineKey } from '../features/activity/useTimeline.ts'
import { requestsKey } from '../features/approvals/accountRequests/useAccountRequests.ts'
import { inboxKey, patchInbox } from '../features/approvals/inbox/useInbox.ts'
import { chatKeys } from '../features/chat/data/keys.ts'
import { accessKey, creditsKey } from '../features/credits/useCredits.ts'
import { cachedDomainsKey, domainSearchKey, domainsKey } from '../features/domains/useDomains.ts'
import { automatonsKey, patchRegistrations, registrationsKey } from '../features/identity/useIdentities.ts'
import { imagesKey, patchChangedImage, patchRemovedImage } from '../features/images/useImages.ts'
import { paymentsKey } from '../features/payments/usePayments.ts'
import { allPortsKey, portsKey } from '../features/sandboxes/details/ports/usePorts.ts'
import { sandboxHostKey } from '../features/sandboxes/list/SandboxPanel.tsx'
import { foundSandboxesKey } from '../features/sandboxes/list/useFoundSandboxes.ts'
import { meKey } from '../features/settings/account/useMe.ts'
import { signInWalletKey, walletLinksKey } from '../features/settings/account/useWalletLinks.ts'
import { keysKey } from '../features/settings/keys/useApiKeys.ts'
import { modelsKey } from '../features/settings/models/useModels.ts'
import { modelServersKey, providersKey } from '../features/settings/models/useProviders.ts'
import { grantsKey } from '../features/settings/policies/useGrants.ts'
import { clientsKey } from '../features/settings/tools/useToolClients.ts'
import { allSnapshotsKey, snapshotsKey } from '../features/snapshots/useSnapshots.ts'
import { sandboxDomainsKey } from '../ui/sandboxes/useSandboxDomains.ts'

type Keys<Event> = readonly QueryKey[] | ((event: Event) => readonly QueryKey[])

/** Effect of an event on the query cache. A query without observers is refetched on its next use at the earliest. */
export type CacheRule<Event extends LocalEvent = LocalEvent> = {
  patch?(queryClient: QueryClient, event: Event): void
  refetch?: Keys<Event>
  /** Queries to refetch once for a burst of events. */
  refetchSoon?: Keys<Event>
  /** Further queries to refetch on their next use. Those in use are not refetched. */
  invalidateUnused?: readonly QueryKey[]
}

export type CacheRules = { readonly [Type in LocalEvent['type']]: CacheRule<LocalEventOf<Type>> }

/** Scripts may also create and delete keys, which is reported as account activity. */
const accountKeys = [keysKey, accessKey, walletLinksKey]

export const cacheRules: CacheRules = {
  ready: {
    refetch: [
      statusKey,
      walletKey,
      policyKey,
      sandboxesKey,
      allTerminalsKey,
      allPortsKey,
      allSnapshotsKey,
      sandboxDomainsKey,
      sandboxHostKey,
      foundSandboxesKey,
      imagesKey,
      inboxKey,
      requestsKey,
      chatKeys.all,
      creditsKey,
      paymentsKey,
      budgetsKey,
      renewalsKey,
      registrationsKey,
      automatonsKey,
      meKey, // the service may use another account
      ...accountKeys,
      grantsKey,
      modelsKey,
      providersKey,
      modelServersKey,
      toolServersKey,
    ],
    refetchSoon: [cachedDomainsKey, tasksKey],
    invalidateUnused: [[]],
  },
  'sandbox.changed': {
    patch: patchChangedSandbox,
    refetch: ({ sandbox: { id } }) => [portsKey(id), [...sandboxDomainsKey, id]],
    invalidateUnused: [allPortsKey, exposedPortsKey, sandboxDomainsKey],
  },
  'sandbox.removed': {
    patch: patchRemovedSandbox,
    invalidateUnused: [allPortsKey, exposedPortsKey, allSnapshotsKey, sandboxDomainsKey],
  },
  'snapshots.changed': {
    refetch: ({ sandbox_id: id }) => [snapshotsKey(id)],
    invalidateUnused: [allSnapshotsKey],
  },
  'image.changed': { patch: patchChangedImage, invalidateUnused: [imagesKey] },
  'image.removed': { patch: patchRemovedImage, invalidateUnused: [imagesKey] },
  'terminal.changed': { patch: patchChangedTerminal },
  'terminal.removed': { patch: patchRemovedTerminal },
  'terminal.output': {},
  'terminal.called': {},
  'terminal.typed': {},
  'activity.noted': { refetch: accountKeys, invalidateUnused: [clientsKey] },
  'things.removed': {},
  'automatons.changed': { refetch: [automatonsKey] },
  'models.changed': { refetch: [modelsKey], invalidateUnused: [chatKeys.models] },
  'credits.changed': { refetch: [creditsKey] },
  'domains.changed': {
    refetch: [domainSearchKey], // a purchased domain is no longer available
    refetchSoon: [cachedDomainsKey],
    invalidateUnused: [renewalsKey],
  },
  'account-requests.changed': { refetch: [requestsKey] },
  'connection.changed': {
    patch: patchConnection,
    refetch: [signInWalletKey],
    refetchSoon: [cachedDomainsKey],
    invalidateUnused: [statusKey, domainsKey],
  },
  'wallet.changed': {
    refetch: [walletKey, renewalsKey, walletLinksKey, signInWalletKey],
    invalidateUnused: [balancesKey],
  },
  'intent.changed': {
    patch: (queryClient, { intent }) => patchInbox(queryClient, intent),
    invalidateUnused: [chatKeys.intents],
  },
  'intent.show': {},
  'policy.changed': { patch: patchPolicy, invalidateUnused: [policyKey] },
  'grants.changed': { refetch: [grantsKey] },
  'providers.changed': { refetch: [providersKey, modelServersKey], invalidateUnused: [chatKeys.models] },
  'tool-servers.changed': { refetch: [toolServersKey] },
  'payment.changed': { refetch: [paymentsKey, budgetsKey] },
  'payment-budgets.changed': { refetch: [budgetsKey, renewalsKey] },
  'registration.changed': { patch: patchRegistrations, invalidateUnused: [registrationsKey] },
  'local-domains.changed': { refetch: [renewalsKey], refetchSoon: [cachedDomainsKey], invalidateUnused: [domainsKey] },
  'domain-renewals.changed': { refetch: [renewalsKey] },
  'domains.notice': {},
  'timeline.appended': {
    refetch: [recordingListKey],
    refetchSoon: [tasksKey],
    invalidateUnused: [timelineKey, recordingsKey], // an open timeline reads the newest entries itself
  },
  'chat.changed': { refetch: listChangedChatKeys, invalidateUnused: [chatKeys.all] },
  'prompts.changed': { refetch: [chatKeys.prompts] },
  'chat.spend': { refetch: listSpendKeys, invalidateUnused: [chatKeys.all] },
}

function listChangedChatKeys({ conversation_id }: LocalEventOf<'chat.changed'>): QueryKey[] {
  const id = conversation_id as ConversationId | null // events contain the id as a plain string
  return [
    chatKeys.budget,
    chatKeys.estimates,
    chatKeys.lists,
    chatKeys.folders,
    chatKeys.search,
    ...(id === null ? [] : [chatKeys.conversation(id), chatKeys.branch(id)]),
  ]
}

function listSpendKeys({ conversation_id }: LocalEventOf<'chat.spend'>): QueryKey[] {
  const id = conversation_id as ConversationId | null // events contain the id as a plain string
  return [
    budgetsKey,
    chatKeys.budget,
    chatKeys.estimates,
    id === null ? chatKeys.conversations : chatKeys.conversation(id),
  ]
}
