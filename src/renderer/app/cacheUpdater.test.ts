import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { QueryClient, type QueryKey, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LocalEvent, LocalEventOf } from '#shared/contract/localApi.ts'
import { createCacheUpdater, debounceMs } from './cacheUpdater.ts'

const rendererFolder = join(import.meta.dirname, '..')

/** One query of each kind, by its key. Those of sandbox and conversation `b` belong to no event below. */
const keys = {
  status: ['local', 'status'],
  wallet: ['local', 'wallet'],
  balances: ['local', 'balances', 'eip155:1'],
  policy: ['local', 'policy'],
  sandboxes: ['sandboxes'],
  sandboxHost: ['sandbox-host'],
  foundSandboxes: ['found-sandboxes'],
  'terminals of a': ['terminals', 'a'],
  'terminals of b': ['terminals', 'b'],
  'ports of a': ['ports', 'a'],
  'ports of b': ['ports', 'b'],
  exposedPorts: ['exposed ports', 'a'],
  'snapshots of a': ['snapshots', 'a'],
  'snapshots of b': ['snapshots', 'b'],
  'domains of a': ['sandbox domains', 'a'],
  'domains of b': ['sandbox domains', 'b'],
  images: ['images'],
  inbox: ['approvals', 'inbox'],
  accountRequests: ['approvals', 'account-requests'],
  chats: ['chat', 'list', {}],
  chatSearch: ['chat', 'search', 'x'],
  chatFolders: ['chat', 'folders'],
  'chat a': ['chat', 'conversation', 'a'],
  'chat b': ['chat', 'conversation', 'b'],
  'messages of a': ['chat', 'branch', 'a'],
  'messages of b': ['chat', 'branch', 'b'],
  chatEstimates: ['chat', 'estimate', 'a'],
  chatBudget: ['chat', 'budget'],
  chatPrompts: ['chat', 'prompts'],
  chatModels: ['chat', 'models'],
  chatIntent: ['chat', 'intent', 'a'],
  credits: ['credits', 'balance'],
  creditsAccess: ['credits access'],
  payments: ['payments', 'list', {}],
  budgets: ['payment budgets'],
  renewals: ['domain renewals'],
  domains: ['domains', 'kept', 'list'],
  domainSearch: ['domains', 'search', 'x', 'com'],
  registrations: ['identity', 'registrations'],
  automatons: ['identity', 'automatons'],
  timeline: ['timeline', 'pages', {}, 'newest'],
  tasks: ['timeline', 'tasks', 'list'],
  task: ['timeline', 'tasks', 'a'],
  recordings: ['recordings', 'list'],
  cast: ['recordings', 'cast', 'a'],
  me: ['settings', 'me'],
  apiKeys: ['settings', 'api-keys'],
  toolClients: ['settings', 'tool-clients'],
  walletLinks: ['settings', 'wallet links'],
  signInWallet: ['settings', 'sign-in wallet'],
  grants: ['settings', 'grants'],
  models: ['settings', 'models'],
  providers: ['settings', 'providers'],
  modelServers: ['settings', 'model-servers'],
  toolServers: ['tool-servers'],
} as const satisfies Record<string, QueryKey>
type Name = keyof typeof keys
const names = Object.keys(keys) as Name[]

type Effect = {
  /** Queries in use that are refetched at once, or once after a burst of events. */
  refetched?: readonly Name[]
  soon?: readonly Name[]
  /** Unused queries, in addition, that are refetched on their next use. */
  unused?: readonly Name[]
}

/** Expected effect of an event. The ids in the event are `a`. */
const effects: { readonly [Type in LocalEvent['type']]: Effect } = {
  ready: {
    refetched: names.filter(
      (name) =>
        ![
          'balances',
          'exposedPorts',
          'domains',
          'domainSearch',
          'timeline',
          'tasks',
          'task',
          'recordings',
          'cast',
          'toolClients',
          'signInWallet',
        ].includes(name),
    ),
    soon: ['domains', 'tasks', 'task'],
    unused: names,
  },
  'sandbox.changed': {
    refetched: ['ports of a', 'domains of a'],
    unused: ['ports of b', 'exposedPorts', 'domains of b'],
  },
  'sandbox.removed': {
    unused: [
      'ports of a',
      'ports of b',
      'exposedPorts',
      'snapshots of a',
      'snapshots of b',
      'domains of a',
      'domains of b',
    ],
  },
  'snapshots.changed': { refetched: ['snapshots of a'], unused: ['snapshots of b'] },
  'image.changed': { unused: ['images'] },
  'image.removed': { unused: ['images'] },
  'terminal.changed': {},
  'terminal.removed': {},
  'terminal.output': {},
  'terminal.called': {},
  'terminal.typed': {},
  'activity.noted': { refetched: ['creditsAccess', 'apiKeys', 'walletLinks'], unused: ['toolClients'] },
  'things.removed': {},
  'automatons.changed': { refetched: ['automatons'] },
  'models.changed': { refetched: ['models'], unused: ['chatModels'] },
  'credits.changed': { refetched: ['credits'] },
  'domains.changed': { refetched: ['domainSearch'], soon: ['domains'], unused: ['renewals'] },
  'account-requests.changed': { refetched: ['accountRequests'] },
  'connection.changed': { refetched: ['status', 'signInWallet'], soon: ['domains'], unused: ['domainSearch'] },
  'wallet.changed': { refetched: ['wallet', 'renewals', 'walletLinks', 'signInWallet'], unused: ['balances'] },
  'intent.changed': { refetched: ['inbox'], unused: ['chatIntent'] },
  'intent.show': {},
  'policy.changed': { refetched: ['policy'] },
  'grants.changed': { refetched: ['grants'] },
  'providers.changed': { refetched: ['providers', 'modelServers'], unused: ['chatModels'] },
  'tool-servers.changed': { refetched: ['toolServers'] },
  'payment.changed': { refetched: ['payments', 'budgets'] },
  'payment-budgets.changed': { refetched: ['budgets', 'renewals'] },
  'registration.changed': { refetched: ['registrations'] },
  'local-domains.changed': { refetched: ['renewals'], soon: ['domains'], unused: ['domainSearch'] },
  'domain-renewals.changed': { refetched: ['renewals'] },
  'domains.notice': {},
  'timeline.appended': { refetched: ['recordings'], soon: ['tasks', 'task'], unused: ['timeline', 'cast'] },
  'chat.changed': {
    refetched: ['chats', 'chatSearch', 'chatFolders', 'chat a', 'messages of a', 'chatEstimates', 'chatBudget'],
    unused: ['chat b', 'messages of b', 'chatPrompts', 'chatModels', 'chatIntent'],
  },
  'prompts.changed': { refetched: ['chatPrompts'] },
  'chat.spend': {
    refetched: ['chat a', 'chatEstimates', 'chatBudget', 'budgets'],
    unused: [
      'chats',
      'chatSearch',
      'chatFolders',
      'chat b',
      'messages of a',
      'messages of b',
      'chatPrompts',
      'chatModels',
      'chatIntent',
    ],
  },
}
const types = Object.keys(effects) as LocalEvent['type'][]

/** Fields of events that the rules read. */
const fields = {
  id: 'a',
  name: 'a',
  sandbox_id: 'a',
  session_id: 'a',
  conversation_id: 'a',
  sandbox: { id: 'a', status: 'running' },
  terminal: { session_id: 'a', sandbox_id: 'a', state: 'running', created_at: '' },
  image: { name: 'a' },
  intent: { id: 'a' },
  registration: { id: 'a' },
  connection: {},
  policy: [],
}
const createEvent = (type: LocalEvent['type']) => ({ ...fields, type }) as unknown as LocalEvent

let queryClient: QueryClient
beforeEach(() => {
  vi.useFakeTimers()
  queryClient = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false } } })
  for (const name of names) queryClient.setQueryData(keys[name], [])
})
afterEach(() => {
  queryClient.clear()
  vi.useRealTimers()
})

/** Observes all queries. @returns the names fetched since the previous call */
function observeAll(): () => Name[] {
  let fetched: Name[] = []
  for (const name of names) {
    const queryFn = () => {
      fetched.push(name)
      return []
    }
    new QueryObserver(queryClient, { queryKey: keys[name], queryFn }).subscribe(() => {})
  }
  return () => {
    const result = fetched
    fetched = []
    return result
  }
}

test.each(types)('%s refetches its queries in use', async (type) => {
  const takeFetched = observeAll()
  createCacheUpdater(queryClient).apply(createEvent(type))
  await vi.advanceTimersByTimeAsync(0)
  expect(takeFetched().sort()).toEqual([...(effects[type].refetched ?? [])].sort())
  await vi.advanceTimersByTimeAsync(debounceMs)
  expect(takeFetched().sort()).toEqual([...(effects[type].soon ?? [])].sort())
})

test.each(types)('%s invalidates its unused queries', async (type) => {
  createCacheUpdater(queryClient).apply(createEvent(type))
  await vi.advanceTimersByTimeAsync(debounceMs)
  const { refetched = [], soon = [], unused = [] } = effects[type]
  const invalidated = names.filter((name) => queryClient.getQueryState(keys[name])?.isInvalidated)
  expect(invalidated.sort()).toEqual([...new Set([...refetched, ...soon, ...unused])].sort())
})

test('chat events without a conversation refetch what all chats share', async () => {
  const takeFetched = observeAll()
  const { apply } = createCacheUpdater(queryClient)
  apply({ type: 'chat.spend', conversation_id: null })
  await vi.advanceTimersByTimeAsync(0)
  expect(takeFetched().sort()).toEqual(['budgets', 'chat a', 'chat b', 'chatBudget', 'chatEstimates'])
  apply({ type: 'chat.changed', conversation_id: null })
  await vi.advanceTimersByTimeAsync(0)
  expect(takeFetched().sort()).toEqual(['chatBudget', 'chatEstimates', 'chatFolders', 'chatSearch', 'chats'])
})

test('patches lists with the changed element', async () => {
  const { apply } = createCacheUpdater(queryClient)
  const types = [
    'sandbox.changed',
    'terminal.changed',
    'image.changed',
    'intent.changed',
    'registration.changed',
  ] as const
  for (const type of types) apply(createEvent(type))
  apply({ ...createEvent('policy.changed'), policy: 'new' } as unknown as LocalEventOf<'policy.changed'>)
  const data = (name: Name) => queryClient.getQueryData(keys[name])
  expect(data('sandboxes')).toEqual([fields.sandbox])
  expect(data('terminals of a')).toEqual([fields.terminal])
  expect(data('images')).toEqual([fields.image])
  expect(data('inbox')).toEqual([fields.intent])
  expect(data('registrations')).toEqual([fields.registration])
  expect(data('policy')).toBe('new')
  for (const type of ['sandbox.removed', 'terminal.removed', 'image.removed'] as const) apply(createEvent(type))
  expect([data('sandboxes'), data('terminals of a'), data('images')]).toEqual([[], [], []])
})

test('refetches the terminals of a sandbox that ended', async () => {
  const takeFetched = observeAll()
  const { apply } = createCacheUpdater(queryClient)
  apply(createEvent('sandbox.changed'))
  await vi.advanceTimersByTimeAsync(0)
  takeFetched()
  apply({ type: 'sandbox.changed', sandbox: { id: 'a', status: 'stopped' } } as LocalEventOf<'sandbox.changed'>)
  await vi.advanceTimersByTimeAsync(0)
  expect(takeFetched()).toContain('terminals of a')
})

test('refetches once for a burst of events and not after close', async () => {
  const takeFetched = observeAll()
  const { apply, close } = createCacheUpdater(queryClient)
  for (const type of ['domains.changed', 'local-domains.changed', 'connection.changed'] as const) {
    apply(createEvent(type))
    await vi.advanceTimersByTimeAsync(debounceMs / 4)
  }
  expect(takeFetched()).not.toContain('domains')
  await vi.advanceTimersByTimeAsync(debounceMs)
  expect(takeFetched()).toEqual(['domains'])
  apply(createEvent('local-domains.changed'))
  close()
  await vi.advanceTimersByTimeAsync(debounceMs)
  expect(takeFetched()).toEqual(['renewals'])
})

test('ignores a response requested before the event', async () => {
  const answers: ((value: string) => void)[] = []
  const queryFn = () => new Promise<string>((answer) => void answers.push(answer))
  const queryKey = keys.grants
  const observer = new QueryObserver(queryClient, { queryKey, queryFn })
  observer.subscribe(() => {})
  void observer.refetch()
  createCacheUpdater(queryClient).apply({ type: 'grants.changed' })
  await vi.advanceTimersByTimeAsync(0)
  answers[0]?.('old')
  answers[1]?.('new')
  await vi.advanceTimersByTimeAsync(0)
  expect(queryClient.getQueryData(queryKey)).toBe('new')
})

test('an unused query in flight is returned to its caller and refetched on its next use', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const queryKey = ['credits', 'slow']
  const slow = queryClient.fetchQuery({ queryKey, queryFn: () => promise })
  createCacheUpdater(queryClient).apply({ type: 'credits.changed' })
  resolve('old')
  expect(await slow).toBe('old')
  expect(queryClient.getQueryState(queryKey)?.isInvalidated).toBe(true)
})

test('no other module changes the cache on events', () => {
  const changesCache = /\b(readAgain|patchAndRefetch|patchFromEvent|setQueryData|invalidateQueries)\b/
  const files = readdirSync(rendererFolder, { recursive: true, encoding: 'utf8' })
  const handlers = files.filter((file) => {
    if (!/\.tsx?$/.test(file) || file.includes('.test.')) return false
    const text = readFileSync(join(rendererFolder, file), 'utf8')
    return /useLiveEvent\(/.test(text) && changesCache.test(text)
  })
  // Reads the newest entries without moving the view.
  expect(handlers).toEqual([join('features', 'activity', 'useTimeline.ts')])
})
