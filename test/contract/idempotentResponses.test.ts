import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { responseTtlMs } from '#platform/http/oncePerKey.ts'
import { answerRepository } from '#service/idempotency/answerRepository.ts'
import {
  type answerBudget,
  createIdempotentAnswers,
  type StoredResponse,
  toDnsRecordKey,
} from '#service/idempotency/idempotentResponses.ts'
import { AccountId, SandboxId } from '#shared/ids.ts'
import { defineStatement, type Store } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import { openServiceStore, seedAccounts, seedSandbox } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const [ada, bob] = ['a', 'b'].map((letter) => AccountId.parse(letter.repeat(32))) as [AccountId, AccountId]
const sandboxId = SandboxId.parse('c'.repeat(32))
const unlimited = { maxAnswers: 10_000, maxBytes: 1_000_000 }

/** Stored responses of requests with an `Idempotency-Key`, on both engines of the store. */
describeStores('idempotent responses', (engine) => {
  test('of 20 concurrent requests with one key, one does the work', async () => {
    const { send, runs } = await open(engine)
    const responses = await Promise.all(Array.from({ length: 20 }, () => send('one')))
    expect(runs()).toBe(1)
    expect(new Set(responses.map(({ body }) => body))).toEqual(new Set(['{"run":1}']))
    expect(responses.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(await send('one')).toEqual({ status: 201, body: '{"run":1}', replayed: true })
  })

  test('40 concurrent requests with different keys are all stored', async () => {
    const { send, runs, listKeys } = await open(engine)
    await Promise.all(Array.from({ length: 40 }, (_, index) => send(`key ${index}`)))
    expect(runs()).toBe(40)
    expect(await listKeys(ada)).toHaveLength(40)
  })

  test('refuses the key of another request, stored or under way', async () => {
    const { send, runs } = await open(engine)
    const [first, other] = await Promise.allSettled([send('taken'), send('taken', { path: '/v1/other' })])
    expect(first.status).toBe('fulfilled')
    expect(other).toMatchObject({ status: 'rejected', reason: { code: 'request/reused-key' } })
    await expect(send('taken', { path: '/v1/other' })).rejects.toMatchObject({ code: 'request/reused-key' })
    expect(runs()).toBe(1)
    expect(await send('taken', { accountId: bob, path: '/v1/other' })).toMatchObject({ replayed: false })
  })

  test('replays a response to another process for a day', async () => {
    const { store, send, clock } = await open(engine)
    await send('lasting')
    const otherProcess = createIdempotentAnswers({ store, now: () => clock.nowMs })
    const repeat = () => otherProcess.once(createRequest('lasting'), async () => ({ status: 200, body: 'again' }))
    clock.nowMs += responseTtlMs - 1
    expect(await repeat()).toEqual({ status: 201, body: '{"run":1}', replayed: true })
    clock.nowMs += 1
    expect(await repeat()).toEqual({ status: 200, body: 'again', replayed: false })
  })

  test('does not store an error, which concurrent repetitions receive', async () => {
    const { send, runs, listKeys } = await open(engine)
    const work = async (): Promise<StoredResponse> => {
      throw new Error('no work')
    }
    const failed = await Promise.allSettled([send('failing', { work }), send('failing', { work })])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await listKeys(ada)).toEqual([])
    expect([await send('failing'), runs()]).toEqual([{ status: 201, body: '{"run":1}', replayed: false }, 1])
  })

  test('returns any body as it was sent, also with U+0000', async () => {
    const { send } = await open(engine)
    const bodies = ['', '{"a":"\\u0000"}', 'a\0b', '\0', '\u0001json:"x"', 'Grüße 👋']
    for (const body of bodies) {
      const work = async () => ({ status: 200, body })
      expect(await send(`body ${body.length}`, { work })).toEqual({ status: 200, body, replayed: false })
      expect(await send(`body ${body.length}`, { work })).toEqual({ status: 200, body, replayed: true })
    }
  })

  test('deletes expired responses', async () => {
    const { send, clock, listKeys } = await open(engine)
    await send('early')
    await send('of bob', { accountId: bob })
    clock.nowMs += responseTtlMs
    await send('late')
    expect([await listKeys(ada), await listKeys(bob)]).toEqual([['late'], []])
  })

  test('keeps the newest responses of an account within its budget', async () => {
    const trims: number[] = []
    const { send, clock, listKeys } = await open(engine, { maxAnswers: 20, onTrimmed: () => void trims.push(1) })
    await send('other', { accountId: bob })
    for (let index = 0; index < 50; index += 1) {
      clock.nowMs += 1
      await send(`key ${index}`)
    }
    expect(await listKeys(ada)).toEqual(Array.from({ length: 20 }, (_, index) => `key ${index + 30}`))
    expect([await listKeys(bob), trims.length]).toEqual([['other'], 1])
  })

  test('trims by the size in UTF-8', async () => {
    const { store, send, clock, listKeys } = await open(engine)
    for (const key of ['first', 'second', 'third']) {
      clock.nowMs += 1
      await send(key, { work: async () => ({ status: 200, body: 'ö'.repeat(50) }) })
    }
    await store.write((tx) => answerRepository.trim(tx, ada, { ...unlimited, maxBytes: 200 }))
    expect(await listKeys(ada)).toEqual(['second', 'third'])
    await store.write((tx) => answerRepository.trim(tx, ada, { ...unlimited, maxBytes: 199 }))
    expect(await listKeys(ada)).toEqual(['third'])
  })

  test('deletes a response with the sandbox that it created or names', async () => {
    const { store, send, listKeys } = await open(engine)
    await seedSandbox(store, ada, sandboxId)
    const work = async () => ({ status: 201, body: JSON.stringify({ id: sandboxId }) })
    await send('create', { path: '/v1/sandboxes', work })
    await send('exec', { path: `/v1/sandboxes/${sandboxId}/exec` })
    await send('unrelated')
    expect(await listKeys(ada)).toEqual(['create', 'exec', 'unrelated'])
    await store.write((tx) => tx.run(removeSandbox, { id: sandboxId }))
    expect(await listKeys(ada)).toEqual(['unrelated'])
    await send('create', { path: '/v1/sandboxes', work }) // deleted before its response was stored
    expect(await listKeys(ada)).toEqual(['unrelated'])
  })

  test('deletes the response of a removed terminal or DNS record', async () => {
    const { store, send, listKeys } = await open(engine)
    const terminalId = `pty_${'d'.repeat(24)}`
    const path = `/v1/sandboxes/${sandboxId}/terminals`
    await send('terminal', { path, work: async () => ({ status: 201, body: `{"session_id":"${terminalId}"}` }) })
    const work = async () => ({ status: 201, body: '{"record_id":"r1"}' })
    await send('record', { path: '/domains/Example.com/dns', work })
    const remove = (id: string) => store.write((tx) => answerRepository.removeCreated(tx, id))
    await remove('unknown')
    expect(await listKeys(ada)).toEqual(['record', 'terminal'])
    await remove(terminalId)
    expect(await listKeys(ada)).toEqual(['record'])
    await remove(toDnsRecordKey({ domain: 'example.com', id: 'r1' }))
    expect(await listKeys(ada)).toEqual([])
  })

  test('reads a response of an earlier version', async () => {
    const { store, send, runs, clock } = await open(engine)
    const { method, path, body: request } = createRequest('earlier')
    const bodyHash = createHash('sha256').update(request).digest()
    const requestHash = createHash('sha256').update(`${method}\n${path}\n`).update(bodyHash).digest()
    const body = '{"quoted":"\\u0000 and \\u0001"}'
    const row = { accountId: ada, key: 'earlier', requestHash, body, expiresAtMs: clock.nowMs + 1 }
    await store.write((tx) => tx.run(insertEarlier, row))
    expect([await send('earlier'), runs()]).toEqual([{ status: 200, body, replayed: true }, 0])
  })
})

const insertEarlier = defineStatement<Params<'accountId' | 'key' | 'requestHash' | 'body' | 'expiresAtMs'>>(
  `INSERT INTO idempotent_answers (account_id, key, request_hash, status, body, expires_at_ms)
    VALUES (@accountId, @key, @requestHash, 200, @body, @expiresAtMs)`,
)
const removeSandbox = defineStatement<Params<'id'>>('DELETE FROM sandboxes WHERE id = @id')
const keysOf = defineStatement<Params<'accountId'>>(
  'SELECT key FROM idempotent_answers WHERE account_id = @accountId ORDER BY expires_at_ms, key',
).withRows(({ key }) => String(key))

type Sent = { accountId?: AccountId; path?: string; work?: () => Promise<StoredResponse> }
type AnswerOptions = Partial<typeof answerBudget> & { onTrimmed?: () => void }

function createRequest(key: string, { accountId = ada, path = '/v1/things' }: Sent = {}) {
  return { accountId, key, method: 'POST', path, body: Buffer.from('{}') }
}

async function open(engine: StoreEngine, { onTrimmed, ...budget }: AnswerOptions = {}) {
  const opened = await openServiceStore(engine)
  const store: Store = opened.store
  await seedAccounts(store, ada, bob)
  const clock = { nowMs: 1_000_000 }
  let runs = 0
  const count = async (): Promise<StoredResponse> => {
    runs += 1
    return { status: 201, body: JSON.stringify({ run: runs }) }
  }
  const responses = createIdempotentAnswers({
    ...{ store, now: () => clock.nowMs, budget: { ...unlimited, ...budget } },
    ...(onTrimmed && { onTrimmed }),
  })
  return {
    store,
    clock,
    runs: () => runs,
    send: (key: string, sent: Sent = {}) => responses.once(createRequest(key, sent), sent.work ?? count),
    listKeys: (accountId: AccountId) => store.read.all(keysOf, { accountId }),
  }
}
