import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import type { SequencedEntry } from '#service/activity/accountActivityRepository.ts'
import { type ActivityLog, createActivityLog } from '#service/activity/activityLog.ts'
import { AccountId, SandboxId } from '#shared/ids.ts'
import { defineStatement, type Store } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import { openServiceStore } from '../support/fixtures/serviceStores.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const ada = AccountId.parse('ada')
const [first, second] = ['a', 'b'].map((digit) => SandboxId.parse(digit.repeat(32))) as [SandboxId, SandboxId]
const addAccount = defineStatement<Params<'id'>>("INSERT INTO accounts VALUES (@id, 'user', 'Ada', 0)")
const addSandbox = defineStatement<Params<'id'>>(
  `INSERT INTO sandboxes (id, account_id, name, vcpu, memory_mb, disk_gb, region, runtime, enforced, status, created_at_ms)
   VALUES (@id, 'ada', 'one', 1, 512, 1, 'eu-north', 'bubblewrap', '{}', 'stopped', 0)`,
)
const removeSandbox = defineStatement<Params<'id'>>('DELETE FROM sandboxes WHERE id = @id')

type Opened = { log: ActivityLog; store: Store; recorded: SequencedEntry[] }

async function openLog(engine: StoreEngine): Promise<Opened> {
  const { store } = await openServiceStore(engine)
  await store.write(async (tx) => {
    await tx.run(addAccount, { id: ada })
    for (const id of [first, second]) await tx.run(addSandbox, { id })
  })
  const recorded: SequencedEntry[] = []
  let ids = 0
  const log = createActivityLog({
    ...{ store, newId: () => `act_${++ids}`, now: () => 1_000, onRecorded: (entry) => recorded.push(entry) },
    ...{ by: () => ({ kind: 'service', name: null }), task: () => null, log: silentLog },
  })
  onTestFinished(() => log.close())
  return { log, store, recorded }
}

describeStores('the activity log', (engine) => {
  test('lists what was recorded, with the text of a command', async () => {
    const { log } = await openLog(engine)
    log.note(first, { type: 'sandbox.created', description: 'created' })
    log.ran(first, { command: 'echo \u{1F600}', exitCode: 3, durationMs: 12.4 })
    log.note(second, { type: 'terminal.closed', subject: 'pty_1', description: 'closed' })
    log.note(second, { type: 'terminal.closed', subject: 'pty_1', description: 'closed again' })
    log.recordForAccount(ada, { type: 'key.created', description: 'a key' })
    expect((await log.ofAccount(ada, 0, 10)).map(({ sequence, type, command }) => [sequence, type, command])).toEqual([
      [1, 'sandbox.created', null],
      [2, 'command.run', 'echo \u{1F600}'],
      [3, 'terminal.closed', null],
      [4, 'key.created', null],
    ])
    expect(await log.commands(first, 10)).toEqual([
      { command: 'echo \u{1F600}', exitCode: 3, durationMs: 12, atMs: 1_000 },
    ])
    expect((await log.activities(second, 10)).map(({ description }) => description)).toEqual(['closed'])
  })

  test('numbers 200 concurrent entries without gaps', async () => {
    const { log, store, recorded } = await openLog(engine)
    for (let index = 0; index < 100; index += 1) {
      log.note(index % 2 === 0 ? first : second, { type: 'sandbox.started', description: String(index) })
      if (index % 10 === 0) await store.read.all(defineStatement('SELECT 1 AS one').withRows(() => 1))
      log.recordForAccount(ada, { type: 'auth.signed_in', description: String(index) })
    }
    const entries = await log.ofAccount(ada, 0, 500)
    expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
    expect(recorded.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toHaveLength(200)
    expect(new Set(entries.map(({ id }) => id)).size).toBe(200)
  })

  test('an entry that cannot be written takes no other with it', async () => {
    const { log } = await openLog(engine)
    log.recordForAccount(ada, { type: 'key.created', description: 'before' })
    log.recordForAccount(ada, { type: 'key.created', description: null as unknown as string })
    log.recordForAccount(ada, { type: 'key.created', description: 'after' })
    expect((await log.ofAccount(ada, 0, 10)).map(({ description }) => description)).toEqual(['before', 'after'])
  })

  test('writes what was recorded before it was closed, and nothing after', async () => {
    const { log } = await openLog(engine)
    log.recordForAccount(ada, { type: 'key.created', description: 'before' })
    await log.close()
    log.recordForAccount(ada, { type: 'key.created', description: 'after' })
    expect((await log.ofAccount(ada, 0, 10)).map(({ description }) => description)).toEqual(['before'])
  })

  test('drops entries of a deleted sandbox', async () => {
    const { log, store } = await openLog(engine)
    await store.write((tx) => tx.run(removeSandbox, { id: first }))
    log.note(first, { type: 'sandbox.started', description: 'late' })
    expect(await log.ofAccount(ada, 0, 10)).toEqual([])
  })
})
