import {
  createHistory,
  deleteWith,
  plain,
  type Reference,
  restrictTo,
  type StoredReferences,
} from '#storage/storedReferences.ts'

const record = 'A record of what happened.'
const journal = 'The journal of credits only grows.'
const registered = plain('Public registration: it stays whoever reads it.')
const issued: Reference = {
  ...{ refersTo: 'sandbox', onRemoved: 'delete', by: 'trigger' },
  why: 'An answer that created a thing goes with it: a repetition creates it again.',
}

/** A sign-in is a family of refresh tokens without a row, so links and tokens check whether it is valid. */
const issuers = {
  issuer_key_id: deleteWith('api-key'),
  issuer_sign_in: { refersTo: 'sign-in', onRemoved: 'close', by: 'use', why: 'Found only while the sign-in holds.' },
} as const

/**
 * References of `service.sqlite` to removable resources, and the action on removal.
 * `test/contract/storedReferences.test.ts` fails for a new table or column until it is declared here.
 */
export const serviceReferences = {
  accounts: {},
  api_keys: {
    account_id: deleteWith('account'),
    models: {
      ...{ refersTo: 'model', onRemoved: 'tell', by: 'use' },
      why: 'A key for removed models answers 404 and lists them; a model may come back with its provider.',
    },
    issuer_caip10: deleteWith('wallet'),
    issuer_sign_in: createHistory('sign-in', 'A key outlives the sign-out of its creator, but not the wallet.'),
  },
  sandboxes: {
    account_id: restrictTo('account'),
    image: { refersTo: 'image', onRemoved: 'refuse', by: 'slice', why: 'An image with sandboxes is not removed.' },
  },
  terminal_links: { sandbox_id: deleteWith('sandbox'), account_id: deleteWith('account'), ...issuers },
  idempotent_answers: {
    account_id: deleteWith('account'),
    key: plain('Chosen by the client.'),
    sandbox_id: issued,
    created_id: issued,
  },
  sandbox_activities: {
    sandbox_id: deleteWith('sandbox'),
    subject: plain('Distinguishes entries of one sandbox.'),
    by_id: createHistory('api-key', record),
  },
  sandbox_commands: { sandbox_id: deleteWith('sandbox') },
  ports: { sandbox_id: deleteWith('sandbox'), port: plain('Number of the port itself.') },
  port_tokens: { sandbox_id: deleteWith('port'), port: deleteWith('port'), ...issuers },
  snapshots: { sandbox_id: deleteWith('sandbox') },
  uploads: { sandbox_id: deleteWith('sandbox'), place: plain('Path while it is incomplete.') },
  account_wallets: {
    account_id: deleteWith('account'),
    caip10: plain('The wallet itself.'),
    address: plain('The wallet itself.'),
    linked_by: createHistory('wallet', 'Says who linked it; the unlinking of that wallet names it.'),
  },
  auth_nonces: {},
  clock: {},
  refresh_tokens: {
    account_id: deleteWith('account'),
    family_id: plain('Sign-in that the tokens of one family continue.'),
    caip10: { refersTo: 'wallet', onRemoved: 'close', by: 'slice', why: 'Unlinking ends its sign-ins.' },
  },
  automatons: {
    automaton_id: registered,
    sent_automaton_id: registered,
    automaton_address: registered,
    creator_address: registered,
    automaton_key: registered,
    creator_key: registered,
  },
  automaton_nonces: { creator_key: registered, automaton_id: registered },
  account_activities: {
    account_id: deleteWith('account'),
    sandbox_id: createHistory('sandbox', record),
    domain: createHistory('domain', record),
    terminal_id: createHistory('terminal', record),
    by_id: createHistory('api-key', record),
  },
  account_requests: { caip10: createHistory('wallet', record), address: createHistory('wallet', record) },
  sandbox_domains: {
    sandbox_id: deleteWith('sandbox'),
    port: { refersTo: 'port', onRemoved: 'tell', by: 'use', why: '`verified` is false while the port is not exposed.' },
    domain: createHistory(
      'domain',
      'DNS decides who reaches the name; a name that left cannot be led here again unproved.',
    ),
  },
  sandbox_domain_claims: {
    sandbox_id: deleteWith('sandbox'),
    port: createHistory('port', 'Nothing leads there before the proof, which needs the port.'),
    domain: plain('Somebody else may own it: that is what the claim is to prove.'),
  },
  credit_accounts: {},
  credit_holds: {
    account_id: restrictTo('ledger-account'),
    key_id: createHistory('api-key', 'Work that a key began is charged after its revocation.'),
    model: createHistory('model', journal),
  },
  credit_key_days: { key_id: createHistory('api-key', journal) },
  sandbox_meters: {
    sandbox_id: {
      ...{ refersTo: 'sandbox', onRemoved: 'delete', by: 'slice' },
      why: 'The last minutes are charged after the removal, so that the row goes with the next start.',
    },
  },
  credit_transfers: {
    debit_account: restrictTo('ledger-account'),
    credit_account: restrictTo('ledger-account'),
    key_id: createHistory('api-key', journal),
    hold_id: plain('Ended holds are removed, their charges stay.'),
    refund_of: restrictTo('payment'),
    request_key: plain('Chosen by the client.'),
    details: createHistory('sandbox', journal),
  },
  credit_days: {
    account_id: createHistory('account', journal),
    key_id: createHistory('api-key', journal),
    model: createHistory('model', journal),
  },
  payments: {
    account_id: createHistory('account', record),
    payer: createHistory('wallet', record),
    sandbox_id: {
      ...{ refersTo: 'sandbox', onRemoved: 'refuse', by: 'slice' },
      why: 'A sandbox is not deleted while a purchase for it is being settled or delivered.',
    },
    purchase: createHistory('domain', 'What was bought; it is delivered or credited, never changed.'),
    idempotency_key: plain('Chosen by the client.'),
    resource: createHistory('domain', 'What an order is about; it holds nothing once the order has ended.'),
  },
  test_money: { address: plain('Test money of an address.') },
  test_money_transfers: { payer: createHistory('wallet', record), payee: createHistory('wallet', record) },
  domain_orders: { account_id: restrictTo('account'), domain: createHistory('domain', record) },
  domain_quotes: {
    account_id: restrictTo('account'),
    domain: createHistory('domain', 'A quote expires within minutes.'),
  },
  domains: { account_id: restrictTo('account') },
  domain_zones: {
    registrar: deleteWith('domain'),
    name: deleteWith('domain'),
    records: plain('What was read last.'),
  },
  registry_domains: {},
  registry_records: { domain: deleteWith('domain'), host: plain('Name within the zone.') },
  database_identity: {},
  sandbox_removals: { sandbox_id: plain('Sandbox whose files are being deleted: the row ends with them.') },
  removed_things: { account_id: deleteWith('account'), thing: plain('Removed already.') },
  orphaned_domains: {
    account_id: deleteWith('account'),
    sandbox_id: plain('Removed already.'),
    domain: createHistory('domain', 'Shown with its domain only.'),
  },
} as const satisfies StoredReferences
