import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { IntentState } from '#shared/contract/intents.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createLockableSigner } from '#test/support/fakes/lockableSigner.ts'
import { createMemoryReservations } from '#test/support/fakes/memoryReservations.ts'
import { payment, script } from '#test/support/fixtures/approvals.ts'
import { projectFolder } from '#test/support/fixtures/testProject.ts'
import { type ChangedIntent, createIntentLifecycle } from './intentLifecycle.ts'
import { createIntentRecord } from './intentRecord.ts'
import { getNextState, type IntentEvent } from './intentStates.ts'
import { initialPolicy } from './policyRepository.ts'

const decision = { by: 'person', detail: 'You approved it.', at: '2027-01-15T08:00:00.000Z' } as const
const events = ['defer', 'reconsider', 'deny', 'stop', 'withdraw', 'revoke', 'expire', 'lock', 'sign', 'fail'] as const

async function openLifecycle(limitMicroUsd = 1000n) {
  const database = openDatabase(':memory:')
  onTestFinished(() => void database.close())
  migrate(database, agentMigrations)
  const reservations = createMemoryReservations(limitMicroUsd)
  const lifecycle = createIntentLifecycle({ database, reservations })
  const heard: ChangedIntent[] = []
  lifecycle.subscribe((changed) => heard.push(changed))
  const prepared = await createLockableSigner().prepare(payment('500'))
  let count = 0
  const ask = () => {
    count += 1
    const record = createIntentRecord(
      { id: `int_${count}`, prepared, requester: script, reason: undefined },
      initialPolicy,
      1,
    )
    return lifecycle.submit({ intent: prepared.intent, record }).id
  }
  const approve = (id: string) => lifecycle.approve(id, { decision })
  const readState = (id: string) => lifecycle.find(id)?.record.state
  /** Returns an intent in that state, reached by transitions that the table allows. */
  const inState = (state: IntentState): string => {
    const id = ask()
    if (state === 'approved' || state === 'signed') approve(id)
    if (state === 'signed') lifecycle.apply(id, 'sign')
    if (state === 'denied') lifecycle.apply(id, 'deny')
    if (state === 'expired') lifecycle.apply(id, 'expire')
    if (state === 'failed') lifecycle.apply(id, 'fail')
    expect(readState(id)).toBe(state)
    return id
  }
  const rows = () => database.prepare('SELECT * FROM intents').all()
  return { database, reservations, lifecycle, heard, ask, approve, stateOf: readState, inState, rows }
}

test.each(IntentState.options)(
  'an intent in state %s changes only by events in the transition table',
  async (state) => {
    for (const event of ['approve', ...events] as const satisfies readonly IntentEvent[]) {
      const { lifecycle, inState, approve, stateOf, rows, heard } = await openLifecycle()
      const id = inState(state)
      const [before, heardBefore] = [rows(), heard.length]
      const to = getNextState(state, event)
      const outcome = event === 'approve' ? approve(id) : lifecycle.apply(id, event)
      expect(stateOf(id)).toBe(to ?? state)
      expect(outcome === undefined).toBe(to === undefined)
      if (to) continue
      expect(rows()).toEqual(before)
      expect(heard).toHaveLength(heardBefore)
    }
  },
)

test('an unknown intent ignores every event', async () => {
  const { lifecycle, approve, heard } = await openLifecycle()
  expect([approve('int_0'), ...events.map((event) => lifecycle.apply('int_0', event))]).toEqual(
    Array.from({ length: events.length + 1 }, () => undefined),
  )
  expect(heard).toEqual([])
})

test('approval reserves, signing commits and any other outcome releases', async () => {
  const { lifecycle, ask, approve } = await openLifecycle(1000n)
  const [first, second, third] = [ask(), ask(), ask()]
  expect([first, second].map(approve)).toMatchObject([
    { record: { state: 'approved' } },
    { record: { state: 'approved' } },
  ])
  expect(approve(third)).toMatchObject({ refusal: { effect: 'deny' } })
  expect(lifecycle.find(third)?.record).toMatchObject({ state: 'waiting', decision: null })
  for (const event of ['lock', 'stop'] as const) {
    lifecycle.apply(second, event)
    expect(approve(third)).toMatchObject({ record: { state: 'approved' } })
    lifecycle.apply(third, 'lock')
    approve(second)
  }
  lifecycle.apply(first, 'sign')
  const others = [approve(third), approve(ask())]
  expect(others).toMatchObject([{ record: { state: 'approved' } }, { refusal: { effect: 'deny' } }])
})

test('a failed reservation leaves the intent unchanged', async () => {
  const { database, inState, rows } = await openLifecycle()
  const id = inState('waiting')
  const throwError = () => {
    throw new Error('The budget cannot be read.')
  }
  const { approve } = createIntentLifecycle({
    database,
    reservations: { reserve: throwError, commit: () => {}, giveBack: () => {} },
  })
  const before = rows()
  expect(() => approve(id, { decision })).toThrow('The budget cannot be read.')
  expect(rows()).toEqual(before)
})

test('notifies listeners once per intent after commit and never after a rollback', async () => {
  const { lifecycle, ask, approve, stateOf, heard } = await openLifecycle()
  const order: string[] = []
  const id = lifecycle.atomically(() => {
    const submitted = ask()
    lifecycle.afterwards(() => order.push(`after, ${heard.length} heard`))
    approve(submitted)
    expect(heard).toEqual([])
    return submitted
  })
  expect(order).toEqual(['after, 1 heard'])
  expect(heard).toMatchObject([{ record: { id, state: 'approved' }, before: undefined }])
  const throwError = () =>
    lifecycle.atomically(() => {
      lifecycle.apply(id, 'sign')
      throw new Error('broken')
    })
  expect(throwError).toThrow('broken')
  expect(stateOf(id)).toBe('approved')
  expect(heard).toHaveLength(1)
})

test('fails a damaged intent, releases its reservation and never restores it', async () => {
  const { database, lifecycle, ask, approve, stateOf } = await openLifecycle(500n)
  const [damaged, second] = [ask(), ask()]
  approve(damaged)
  const intent = database.prepare<[string], { intent: string }>('SELECT intent FROM intents WHERE id = ?').get(damaged)
  const write = database.prepare<[string, string]>('UPDATE intents SET intent = ? WHERE id = ?')
  write.run('{', damaged)
  lifecycle.failDamaged()
  expect(approve(second)).toMatchObject({ record: { state: 'approved' } })
  write.run(intent?.intent ?? '', damaged)
  expect(stateOf(damaged)).toBe('failed')
  expect(lifecycle.apply(damaged, 'sign')).toBeUndefined()
})

test('only the intent state repository writes intents', () => {
  const writes = /\b(INSERT (OR \w+ )?INTO|REPLACE INTO|UPDATE( OR \w+)?|DELETE FROM) intents\b/i
  const files = readdirSync(join(projectFolder, 'src'), { recursive: true, encoding: 'utf8' })
  const writers = files.filter(
    (file) =>
      file.endsWith('.ts') &&
      !file.endsWith('.test.ts') &&
      writes.test(readFileSync(join(projectFolder, 'src', file), 'utf8')),
  )
  expect(writers).toEqual([join('main', 'agent', 'approvals', 'intentStateRepository.ts')])
})
