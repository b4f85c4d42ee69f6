import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import type { Intent, IntentRecord } from '#shared/contract/intents.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { createLockableSigner } from '#test/support/fakes/lockableSigner.ts'
import { approvalsOfTest, payment, rule, script, signInTo, withRules } from '#test/support/fixtures/approvals.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import type { Decision } from './approvals.ts'

/** Approves an intent that returns to `waiting` because the wallet locks while signing. */
function openSigning(options: Parameters<typeof approvalsOfTest>[0] = {}) {
  const opened = approvalsOfTest(options)
  const { approvals, signer } = opened
  /** Starts an operation that leads to signing and locks the wallet before the signer gets the key. */
  const interrupt = async (begin: () => Promise<IntentRecord>): Promise<IntentRecord> => {
    const release = signer.hold()
    const outcome = begin()
    await until('it is being signed', () => approvals.list({ state: 'approved', limit: 1 }).intents[0])
    signer.setUnlocked(false)
    release()
    return outcome
  }
  const approve = async (intent: Intent, decision: Partial<Decision> = {}): Promise<IntentRecord> => {
    const { id } = await approvals.submit({ intent, requester: script })
    return interrupt(() => approvals.decide(id, { approve: true, confirmed: false, ...decision }))
  }
  const unlock = () => signer.setUnlocked(true)
  const ends = (id: string) => approvals.waitUntilSettled(id, { waitMs: 30_000 })
  return { ...opened, interrupted: interrupt, approved: approve, unlock, ends }
}

const expectWaits = (record: IntentRecord, by: string) =>
  expect(record).toMatchObject({ state: 'waiting', decision: { by }, result: null })

test('checks the current deny rules before it signs an approved intent after unlock', async () => {
  const { approvals, approved, unlock, ends, signer } = openSigning()
  const back = await approved(signInTo('a.example'))
  expectWaits(back, 'person')
  approvals.changePolicy(withRules([rule({ effect: 'deny', host: 'a.example' })]))
  unlock()
  expect(await ends(back.id)).toMatchObject({
    state: 'denied',
    decision: { by: 'policy' },
    error: 'Denied by your rule “Nobody may have anything signed for a.example”.',
  })
  expect(signer.signatures()).toBe(0)

  const otherRecord = await approved(signInTo('b.example'))
  expectWaits(otherRecord, 'person')
  unlock()
  expect(await ends(otherRecord.id)).toMatchObject({ state: 'signed', decision: { by: 'person' } })
})

test('the stop switch denies an intent awaiting unlock even if released before the unlock', async () => {
  const { approvals, approved, unlock, signer } = openSigning()
  const back = await approved(signInTo('a.example'))
  approvals.switchStop(true)
  unlock()
  approvals.switchStop(false)
  expect(approvals.get(back.id)).toMatchObject({ state: 'denied', decision: { by: 'stop' } })
  expect(signer.signatures()).toBe(0)
})

test('asks again for an unconfirmed intent that now exceeds the threshold', async () => {
  const { approvals, approved, unlock, ends, signer } = openSigning()
  const back = await approved(payment('500'))
  expectWaits(back, 'person')
  approvals.changePolicy({ ...withRules([]), confirm_above_micro_usd: '499' })
  unlock()
  const pending = await until('it is asked again', () => {
    const record = approvals.get(back.id)
    return record.decision === null ? record : undefined
  })
  expect(pending).toMatchObject({ state: 'waiting', needs_confirmation: true })
  expect(signer.signatures()).toBe(0)
  await expect(approvals.decide(back.id, { approve: true, confirmed: false })).rejects.toMatchObject({
    code: 'intent/confirmation',
  })

  const release = signer.hold()
  const deciding = approvals.decide(back.id, { approve: true, confirmed: true })
  await until('it is being signed', () => approvals.get(back.id).state === 'approved')
  signer.setUnlocked(false)
  release()
  expectWaits(await deciding, 'person')
  unlock() // the confirmation remains valid
  expect(await ends(back.id)).toMatchObject({ state: 'signed', decision: { by: 'person' } })
})

test('counts a grant use once per signature despite repeated wallet locks', async () => {
  const { approvals, interrupted, unlock, ends, signer, events } = openSigning()
  const ask = () => approvals.submit({ intent: payment('500'), requester: script })
  await approvals.decide((await ask()).id, { approve: true, confirmed: false, grant: { times: 3 } })
  const readTimesLeft = () => approvals.grants().map((it) => it.times_left)
  expect(readTimesLeft()).toEqual([2])
  const first = await interrupted(ask)
  expectWaits(first, 'grant')
  expect(readTimesLeft()).toEqual([2])
  unlock()
  expect(await ends(first.id)).toMatchObject({ state: 'signed', decision: { by: 'grant' } })
  expect(readTimesLeft()).toEqual([1])

  const last = await interrupted(ask)
  expectWaits(last, 'grant')
  expect(readTimesLeft()).toEqual([1]) // the last use was returned
  unlock()
  expect(await ends(last.id)).toMatchObject({ state: 'signed' })
  expect(readTimesLeft()).toEqual([])
  expect((await ask()).state).toBe('waiting')
  expect(signer.signatures()).toBe(3)
  expect(events.filter(({ type }) => type === 'grants.changed').length).toBeGreaterThan(3)
})

test('does not sign with a revoked grant and clears the decision', async () => {
  const { approvals, interrupted, unlock } = openSigning()
  const ask = () => approvals.submit({ intent: payment('500'), requester: script })
  await approvals.decide((await ask()).id, { approve: true, confirmed: false, grant: { times: 2 } })
  const release = await interruptAfter(approvals.grants()[0]?.id ?? '')
  expectWaits(release, 'grant')
  expect(approvals.grants()).toEqual([])
  unlock()
  await until('it is asked', () => approvals.get(release.id).decision === null)
  expect(approvals.get(release.id).state).toBe('waiting')

  async function interruptAfter(grantId: string): Promise<IntentRecord> {
    return interrupted(async () => {
      const asking = ask()
      await until('it is being signed', () => approvals.list({ state: 'approved', limit: 1 }).intents[0])
      approvals.revokeGrant(grantId)
      return asking
    })
  }
})

test('does not count a grant use for a failed, stopped or interrupted signature', async () => {
  const plain = createLockableSigner()
  let failing = false
  const signer: typeof plain = {
    ...plain,
    sign: (prepared) =>
      failing ? Promise.reject(new AppError('intent/invalid', 'It would not verify.')) : plain.sign(prepared),
  }
  const file = join(temporaryFolder('approvals'), 'agent.sqlite')
  const before = openSigning({ file, signer })
  const ask = () => before.approvals.submit({ intent: payment('500'), requester: script })
  await before.approvals.decide((await ask()).id, { approve: true, confirmed: false, grant: { times: 2 } })
  const readTimesLeft = () => before.approvals.grants().map((it) => it.times_left)
  failing = true
  expect((await ask()).state).toBe('failed')
  expect(readTimesLeft()).toEqual([1])
  failing = false

  const release = signer.hold()
  const stopped = ask()
  await until('it is being signed', () => before.approvals.list({ state: 'approved', limit: 1 }).intents[0])
  expect(readTimesLeft()).toEqual([])
  before.approvals.switchStop(true)
  release()
  expect((await stopped).state).toBe('denied')
  before.approvals.switchStop(false)
  expect(readTimesLeft()).toEqual([1])

  const releaseLast = signer.hold()
  const cutOff = ask().catch((error: unknown) => error)
  await until('it is being signed', () => before.approvals.list({ state: 'approved', limit: 1 }).intents[0])
  before.close()
  releaseLast()
  expect(await cutOff).toBeInstanceOf(AppError)
  const after = openSigning({ file, signer })
  expect(after.approvals.list({ state: 'failed', limit: 9 }).intents).toHaveLength(2)
  expect(after.approvals.grants()).toMatchObject([{ times_left: 1 }])
})

test('signs an interrupted intent immediately if the wallet is already unlocked', async () => {
  const plain = createLockableSigner()
  let refusals = 1
  const signer: typeof plain = {
    ...plain,
    async sign(prepared) {
      if (refusals-- <= 0) return plain.sign(prepared)
      plain.setUnlocked(false)
      plain.setUnlocked(true)
      throw new AppError('wallet/locked', 'The wallet is locked.')
    },
  }
  const { approvals, ends } = openSigning({ signer })
  const { id } = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  await approvals.decide(id, { approve: true, confirmed: false })
  expect(await ends(id)).toMatchObject({ state: 'signed', decision: { by: 'person' } })
})

test('an intent awaiting unlock still expires', async () => {
  let nowMs = 1_800_000_000_000
  const { approvals, approved, unlock, published } = openSigning({ now: () => nowMs })
  const back = await approved(signInTo('a.example'))
  nowMs += 15 * 60_000
  unlock()
  await until('it has expired', () => published().at(-1) === 'expired')
  expect(approvals.get(back.id).state).toBe('expired')
})

test('applies a new deny rule until the signature is made', async () => {
  const checked = Promise.withResolvers<void>()
  const { approvals, signer } = openSigning({ beforeSigning: () => checked.promise })
  const { id } = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  const decided = approvals.decide(id, { approve: true, confirmed: false })
  await until('it is being signed', () => approvals.list({ state: 'approved', limit: 1 }).intents[0])
  approvals.changePolicy(withRules([rule({ effect: 'deny', host: 'a.example' })]))
  checked.resolve()
  const error = 'Denied by your rule “Nobody may have anything signed for a.example”.'
  expect(await decided).toMatchObject({ state: 'failed', error, result: null })
  expect(signer.signatures()).toBe(0)
})
