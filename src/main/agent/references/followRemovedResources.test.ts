import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import type { RemovedThing as Entry } from '#shared/contract/removedThings.ts'
import type { Route } from '#shared/contract/route.ts'
import { createEmitter } from '#shared/emitter.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import { createRemovedThings, type RemovedThing, type RemovedThings } from '../base/removedThings.ts'
import { createExistingResourceRepository, type ExistingResourceRepository } from './existingResourceRepository.ts'
import { followRemovedResources } from './followRemovedResources.ts'

/** Responses of the service: an outbox with two entries per page. */
let outbox: Entry[]
let sandboxes: { id: string; name: string }[]
let database: Database
let records: ExistingResourceRepository
let removed: RemovedThings
let delivered: RemovedThing[]
let follower: { close(): Promise<void> } | undefined
let requests: number[]
let account = 'acc_1'

beforeEach(() => {
  database = openDatabase(':memory:')
  migrate(database, agentMigrations)
  records = createExistingResourceRepository(database, 'embedded')
  removed = createRemovedThings()
  account = 'acc_1'
  ;[outbox, sandboxes, delivered, requests] = [[], [], [], []]
})
afterEach(async () => {
  await follower?.close()
  database.close()
})

const answers: Record<string, (input: { after?: number }) => unknown> = {
  removedThingList({ after = 0 }) {
    requests.push(after)
    const remaining = outbox.filter(({ sequence }) => sequence > after)
    const last_sequence = outbox.at(-1)?.sequence ?? 0
    return { account_id: account, things: remaining.slice(0, 2), has_more: remaining.length > 2, last_sequence }
  },
  sandboxList: () => ({ sandboxes }),
  foundSandboxList: () => ({ sandboxes: [] }),
  domainList: () => ({ domains: [] }),
  apiKeyList: () => ({ api_keys: [] }),
}

function follow(log = silentLog): ReturnType<typeof createEmitter<LocalEvent>> {
  const events = createEmitter<LocalEvent>()
  const call = async (route: Route, input: { after?: number }) => answers[route.operation]?.(input)
  follower = followRemovedResources({
    link: events,
    client: { call: call as never }, // responses follow the contract
    records,
    removed,
    log,
  })
  events.emit({ type: 'ready' })
  return events
}
const hear = (kind: RemovedThing['kind']) => removed.subscribe({ kind, onRemoved: (thing) => delivered.push(thing) })
const entry = (sequence: number, id = `s${sequence}`, kind = 'sandbox'): Entry => ({ sequence, kind, id, name: id })

test('reads all pages once in order and skips unknown kinds', async () => {
  hear('sandbox')
  outbox = [entry(1), entry(2, 'unknown', 'spaceship'), entry(3), entry(4), entry(5)]
  const events = follow()
  await eventually(() => expect(records.getProcessedSequence('acc_1')).toBe(5))
  outbox.push(entry(6))
  events.emit({ type: 'things.removed', sequence: 6 })
  await eventually(() => expect(records.getProcessedSequence('acc_1')).toBe(6))
  expect(delivered.map(({ id }) => id)).toEqual(['s1', 's3', 's4', 's5', 's6'])
})

test('acknowledges an entry only after all subscribers have applied it', async () => {
  let failures = 1
  removed.subscribe({
    kind: 'sandbox',
    onRemoved() {
      if (failures-- > 0) throw new Error('the disk is full')
    },
  })
  hear('sandbox')
  outbox = [entry(1)]
  const events = follow()
  await eventually(() => expect(delivered).toHaveLength(1))
  expect(records.getProcessedSequence('acc_1')).toBe(0)
  events.emit({ type: 'things.removed', sequence: 1 })
  await eventually(() => expect(records.getProcessedSequence('acc_1')).toBe(1))
  expect(delivered).toHaveLength(2)
})

test('restarts from the beginning after the service database was restored', async () => {
  records.acknowledge('acc_1', 900)
  hear('sandbox')
  outbox = [entry(7)]
  follow()
  await eventually(() => expect(records.getProcessedSequence('acc_1')).toBe(7))
  expect(delivered.map(({ id }) => id)).toEqual(['s7'])
})

test('detects resources removed without an entry but ignores those of other accounts', async () => {
  hear('sandbox')
  removed.subscribe({ kind: 'sandbox', referred: () => ['known', 'elsewhere', 'never'], onRemoved() {} })
  records.replace(
    'acc_1',
    'sandbox',
    new Map([
      ['known', 'atlas'],
      ['present', 'web'],
    ]),
  )
  records.replace('acc_2', 'sandbox', new Map([['elsewhere', 'theirs']]))
  sandboxes = [{ id: 'present', name: 'web' }]
  follow()
  await eventually(() => expect([...records.list('acc_1', 'sandbox').keys()]).toEqual(['present']))
  expect(delivered).toEqual([
    { kind: 'sandbox', id: 'known', name: 'atlas' },
    { kind: 'sandbox', id: 'never', name: 'never' },
  ])
})

test('stores the 20 most recently compared accounts', () => {
  for (let index = 0; index < 30; index += 1) {
    records.replace(`acc_${index}`, 'sandbox', new Map([[`s${index}`, 'atlas']]))
  }
  expect(database.prepare('SELECT count(*) AS count FROM compared_accounts').get()).toEqual({ count: 20 })
  expect(records.exists('sandbox', 's9')).toBe(false)
  expect(records.exists('sandbox', 's10')).toBe(true)
})

test('a service cannot remove a resource of another account', async () => {
  hear('sandbox')
  records.replace('acc_2', 'sandbox', new Map([['theirs', 'atlas']]))
  outbox = [entry(1, 'theirs'), entry(2, 'own')]
  follow()
  await eventually(() => expect(records.getProcessedSequence('acc_1')).toBe(2))
  expect(delivered).toEqual([{ kind: 'sandbox', id: 'own', name: 'own' }])
  expect(records.exists('sandbox', 'theirs')).toBe(true)
})

test('a service cannot remove or evict resources of another service', async () => {
  hear('sandbox')
  const hostile = createExistingResourceRepository(database, 'https://elsewhere.example')
  records.replace('acc_1', 'sandbox', new Map([['own', 'atlas']]))
  hostile.replace('acc_9', 'sandbox', new Map([['own', 'copied id']]))
  for (let index = 0; index < 30; index += 1) hostile.replace(`acc_${index + 2}`, 'sandbox', new Map())
  expect(records.list('acc_1', 'sandbox')).toEqual(new Map([['own', 'atlas']]))

  records = hostile
  account = 'acc_9'
  hostile.replace('acc_9', 'sandbox', new Map([['own', 'copied id']]))
  outbox = [entry(1, 'own'), entry(2, 'other')]
  follow()
  await eventually(() => expect(hostile.getProcessedSequence('acc_9')).toBe(2))
  await eventually(() => expect(hostile.list('acc_9', 'sandbox').size).toBe(0))
  expect(delivered.map(({ id }) => id)).toEqual(['other'])
})

test('applies removals after the service address has changed', async () => {
  hear('sandbox')
  createExistingResourceRepository(database, 'https://old.example').replace(
    'acc_1',
    'sandbox',
    new Map([['own', 'atlas']]),
  )
  records.replace('acc_1', 'sandbox', new Map([['own', 'atlas']]))
  outbox = [entry(1, 'own')]
  follow()
  await eventually(() => expect(delivered.map(({ id }) => id)).toEqual(['own']))
})

test('adopts records of a version that did not store their service', () => {
  createExistingResourceRepository(database, '').replace('acc_1', 'sandbox', new Map([['s1', 'atlas']]))
  createExistingResourceRepository(database, '').acknowledge('acc_1', 7)
  expect(records.list('acc_1', 'sandbox').size).toBe(0)
  records.adopt('acc_1')
  records.adopt('acc_1')
  expect(records.list('acc_1', 'sandbox')).toEqual(new Map([['s1', 'atlas']]))
  expect(records.getProcessedSequence('acc_1')).toBe(7)
  expect(records.isOfOthers('acc_1', 'sandbox', 's1')).toBe(false)
})

test('stops reading an endless outbox', async () => {
  const endless = { account_id: 'acc_1', things: [], has_more: true, last_sequence: 9 }
  const read = answers.removedThingList
  let pages = 0
  answers.removedThingList = () => {
    pages += 1
    if (pages > 1_000) throw new AppError('service/unavailable', 'Enough.')
    return endless
  }
  onTestFinished(() => {
    answers.removedThingList = read as never
  })
  const warned: string[] = []
  follow({ ...silentLog, warn: (_, fields) => void warned.push(String(fields?.error)) })
  await eventually(() => expect(warned).toHaveLength(1))
  expect([pages, warned]).toEqual([20, ['Error: The outbox of the service has more than 20 pages.']])
})

test('limits a flood of announced sandboxes', async () => {
  sandboxes = [{ id: 'present', name: 'web' }]
  const events = follow()
  await eventually(() => expect(records.list('acc_1', 'sandbox').size).toBe(1))
  await eventually(() => {
    events.emit({ type: 'sandbox.changed', sandbox: { id: 's0', name: 'flood' } } as LocalEvent)
    expect(records.exists('sandbox', 's0')).toBe(true)
  })
  for (let index = 0; index < 10_100; index += 1) {
    events.emit({ type: 'sandbox.changed', sandbox: { id: `s${index}`, name: 'flood' } } as LocalEvent)
  }
  expect(records.list('acc_1', 'sandbox').size).toBeLessThanOrEqual(10_001)
})
