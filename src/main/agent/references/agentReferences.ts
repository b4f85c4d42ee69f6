import {
  createHistory,
  deleteWith,
  detachFrom,
  plain,
  type Reference,
  restrictTo,
  type StoredReferences,
} from '#storage/storedReferences.ts'

const record = 'Historical record.'
const tree = plain('Messages and branches are deleted with their conversation.')
/** Reference to an intent, whose records stay after it is removed. */
const intentReference = createHistory('intent', 'Requests are removed by age; records of their outcome stay.')
const historicalToolClient = createHistory('tool-client', record)
/** Requester: a coding agent, a chat, or a program with an API key. */
const requester: readonly Reference[] = ['tool-client', 'conversation', 'api-key'].map(
  (refersTo) =>
    ({
      ...{ refersTo, onRemoved: 'close', by: 'slice' },
      why: 'Waiting requests of a removed principal are cancelled; ended ones stay as records.',
    }) as Reference,
)

/**
 * References in `agent.sqlite` to removable resources, with the action on removal. `by: 'holder'` marks resources of
 * the service. `test/contract/storedReferences.test.ts` fails for a new table or column that is not declared here.
 */
export const agentReferences = {
  keyrings: {},
  wallet_accounts: { keyring_id: deleteWith('keyring'), address: plain('The account itself.') },
  agent_settings: {
    key: plain('Name of the setting.'),
    value: [
      {
        ...{ refersTo: 'wallet-account', onRemoved: 'detach', by: 'use' },
        why: '`wallet.defaults`: a missing default falls back to the oldest account.',
      },
      {
        refersTo: 'keyring',
        onRemoved: 'close',
        by: 'slice',
        why: '`wallet.removing`: the removal is finished first.',
      },
    ],
  },
  balances: { account_id: deleteWith('wallet-account') },
  wallet_links: {
    service_account: plain('Account at a service, compared on each connection.'),
    address: {
      ...{ refersTo: 'wallet-account', onRemoved: 'close', by: 'slice' },
      why: 'Marked to be unlinked at the service, and deleted afterwards.',
    },
  },
  sign_in_wallets: {
    service_url: plain('Address of the service.'),
    wallet_account: {
      ...{ refersTo: 'wallet-account', onRemoved: 'tell', by: 'use' },
      why: 'Steward signs out and asks which account to sign in with.',
    },
    address: createHistory('wallet-account', 'Named in that question.'),
    service_account: plain('Account at a service.'),
  },
  intents: {
    requester_id: requester,
    intent: [
      { refersTo: 'sandbox', onRemoved: 'close', by: 'holder', why: 'Waiting requests about it become impossible.' },
      { refersTo: 'domain', onRemoved: 'close', by: 'holder', why: 'Waiting requests about it become impossible.' },
      { refersTo: 'tool-server', onRemoved: 'close', by: 'slice', why: 'Waiting calls of its tools are denied.' },
      { refersTo: 'wallet-account', onRemoved: 'close', by: 'slice', why: 'Waiting requests for it are denied.' },
    ],
    record: createHistory('intent', 'Title and state of the request itself.'),
  },
  purchase_leases: {
    purchase: createHistory('domain', 'Item of a payment in progress; the lease ends with the payment.'),
    intent_id: deleteWith('intent'),
  },
  grants: {
    requester: requester,
    account_id: { refersTo: 'wallet-account', onRemoved: 'delete', by: 'trigger' },
    host: plain('Any host, even one that never existed.'),
    scope: (['sandbox', 'domain', 'tool-server'] as const).map(
      (refersTo) =>
        ({
          ...{ refersTo, onRemoved: 'delete', by: refersTo === 'tool-server' ? 'slice' : 'holder' },
          why: 'Target of a tool call. Scopes of other kinds are chains and payees, which cannot be removed.',
        }) as const,
    ),
  },
  policy: { policy: plain('Rules name kinds and hosts, no removable resource.') },
  timeline: {
    subject: createHistory('sandbox', record),
    links: createHistory('sandbox', record),
    detail: createHistory('sandbox', record),
  },
  timeline_links: { id: createHistory('sandbox', record) },
  timeline_cut: {},
  followed_services: { account_id: plain('Account at a service, with the position in its activity.') },
  registrations: {
    intent_id: intentReference,
    registration: plain('Public registration.'),
    request: plain('Request as sent.'),
  },
  asked_once: { requester: historicalToolClient, key: plain('Chosen by the client.'), intent_id: intentReference },
  grant_reservations: {
    intent_id: intentReference,
    grant_id: createHistory('grant', 'Released with its request.'),
  },
  provider_keys: {
    slot: [
      { refersTo: 'tool-server', onRemoved: 'delete', by: 'slice', why: 'Secrets are deleted before the server.' },
      { refersTo: 'model', onRemoved: 'delete', by: 'slice', why: 'The key is deleted before the model server.' },
    ],
    place: plain('Kind of the secret store.'),
  },
  model_servers: { needs_key: plain('Whether it requires a key.'), models: plain('Models of the server itself.') },
  chat_folders: {},
  chat_conversations: {
    folder_id: detachFrom('folder'),
    models: {
      ...{ refersTo: 'model', onRemoved: 'tell', by: 'use' },
      why: 'The chat reports the missing model and offers others; it may become available again.',
    },
    tools: [
      { refersTo: 'sandbox', onRemoved: 'detach', by: 'holder', why: '`tools.sandbox_id`; the chat shows a notice.' },
      { refersTo: 'tool-server', onRemoved: 'detach', by: 'trigger', why: '`tools.servers`' },
    ],
    limits: plain('Amounts.'),
    leaf_id: tree,
    forked_from: createHistory('conversation', 'Origin of a chat.'),
    source_id: plain('Id in the imported file.'),
  },
  chat_branches: { conversation: deleteWith('conversation'), from_branch: tree },
  chat_messages: {
    conversation: deleteWith('conversation'),
    parent: tree,
    branch: tree,
    model: createHistory('model', record),
    group_id: tree,
    request_id: plain('Chosen by the window.'),
    source_id: plain('Id in the imported file.'),
  },
  chat_received: { message: deleteWith('message') },
  chat_blobs: {},
  chat_attachments: { hash: restrictTo('attachment') },
  chat_message_attachments: {
    message: deleteWith('message'),
    attachment_id: restrictTo('attachment'),
    place: plain('Order.'),
  },
  chat_prompts: {},
  spend_limits: { scope: plain('`day` or `conversation`: one row each.') },
  spend_reservations: {
    conversation_id: createHistory('conversation', 'Settled when the run ends, even if the chat was deleted.'),
    model: createHistory('model', record),
  },
  spend_entries: { conversation_id: createHistory('conversation', record), model: createHistory('model', record) },
  domain_cache: {
    key: createHistory('domain', 'Last response; the next list replaces it.'),
    service: plain('Service and account.'),
  },
  dns_plans: {
    service: plain('Service and account.'),
    domain: createHistory('domain', 'Applying a plan reads the domain first and fails if it is missing.'),
    plan: plain('Records before and after the plan.'),
  },
  payments: {
    intent_id: intentReference,
    requester: historicalToolClient,
    host: plain('Any host.'),
    record: createHistory('wallet-account', record),
    request: plain('Request as sent.'),
  },
  payment_limits: { limits: plain('Amounts.') },
  payment_budget_entries: {
    host: plain('Any host.'),
    payee: plain('Any address.'),
    payer: createHistory('wallet-account', record),
    service: plain('Address of a service, compared with the connected one.'),
  },
  payment_payees: { host: plain('Any host.') },
  tool_clients: { settings: plain('Profile, policy and budget.') },
  tool_spending: { holder: historicalToolClient },
  tool_calls: {
    holder: requester.filter(({ refersTo }) => refersTo !== 'api-key'),
    intent_id: intentReference,
    record: createHistory('sandbox', record),
    given: { refersTo: 'sandbox', onRemoved: 'close', by: 'holder', why: 'Ends with its request.' },
    caller: historicalToolClient,
  },
  tool_payments: { key: plain('Chosen by the client.'), payment_id: createHistory('payment', record) },
  program_sandboxes: {
    sandbox_id: {
      ...{ refersTo: 'sandbox', onRemoved: 'delete', by: 'slice' },
      why: 'The row is deleted with its sandbox, or at the next start.',
    },
  },
  chat_steps: { message: deleteWith('message') },
  chat_calls: {
    place: plain('Order.'),
    message: deleteWith('message'),
    intent_id: intentReference,
    result: createHistory('sandbox', record),
  },
  activity_settings: {},
  clock: {},
  recordings: {
    terminal_id: createHistory('terminal', 'Recorded terminal; removed by age or by the user.'),
    sandbox_id: createHistory('sandbox', 'Recorded sandbox, stored with its name.'),
  },
  domain_renewals: {
    place: plain('Service and account.'),
    domain: {
      ...{ refersTo: 'domain', onRemoved: 'tell', by: 'holder' },
      why: 'Renewals list it as missing until the user turns it off.',
    },
  },
  domain_renewal_turns: {
    place: plain('Service and account.'),
    domain: createHistory('domain', 'Outcome of one expiry.'),
    intent_id: intentReference,
  },
  domain_notices: {
    place: plain('Service and account.'),
    domain: createHistory('domain', 'Shown only while the account has the domain.'),
  },
  tool_servers: {
    place: { refersTo: 'sandbox', onRemoved: 'close', by: 'holder', why: 'Turned off, with the reason in `fault`.' },
    secrets: plain('Names of its secrets.'),
  },
  served_tools: { server: deleteWith('tool-server') },
  compared_accounts: {
    service: plain('Address of the service.'),
    account_id: plain('Account at a service, with the position in its outbox.'),
  },
  known_things: {
    service: deleteWith('account'),
    account_id: deleteWith('account'),
    thing: plain('One row per existing resource; replaced by each comparison.'),
  },
} as const satisfies StoredReferences
