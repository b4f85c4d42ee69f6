import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openClock } from '#platform/time/clock.ts'
import { AppError } from '#shared/appError.ts'
import { IntentRecord } from '#shared/contract/intents.ts'
import { eventually, until } from '#test/support/assertions/eventually.ts'
import { createLockableSigner, isGenuine } from '#test/support/fakes/lockableSigner.ts'
import { createMemoryReservations } from '#test/support/fakes/memoryReservations.ts'
import {
  agent,
  approvalsOfTest,
  message,
  otherScript,
  payment,
  person,
  rule,
  script,
  signInTo,
  withRules,
} from '#test/support/fixtures/approvals.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'

const approve = { approve: true, confirmed: false }
const deny = { approve: false, confirmed: false }
const failsWith = (code: string) => expect.objectContaining({ code })

test('asks the user without a matching rule, then signs and records the approved intent', async () => {
  const { approvals, kinds, published, notes: activity } = approvalsOfTest()
  const record = await approvals.submit({ intent: signInTo('a.example'), requester: script, reason: 'To read prices.' })
  expect(record).toMatchObject({ state: 'waiting', decision: null, reason: 'To read prices.', host: 'a.example' })
  expect(IntentRecord.parse(record)).toEqual(record)
  expect(approvals.list({ limit: 10 })).toEqual({ intents: [record], waiting: 1 })

  const signed = await approvals.decide(record.id, approve)
  expect(signed).toMatchObject({ state: 'signed', decision: { by: 'person' } })
  expect(isGenuine(signed.result, signed.raw)).toBe(true)
  expect(approvals.get(record.id)).toEqual(signed)
  expect(approvals.list({ limit: 10 }).waiting).toBe(0)
  expect(published()).toEqual(['waiting', 'approved', 'signed'])
  expect(kinds()).toEqual(['intent.asked', 'intent.approved', 'intent.signed'])
  expect(JSON.stringify(activity)).not.toContain(signed.result?.signature)
  expect(activity.at(-1)?.detail).toMatchObject({ signature_hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
})

test('does not sign a denied intent or accept a later approval', async () => {
  const { approvals, signer, kinds } = approvalsOfTest()
  const { id } = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  expect(await approvals.decide(id, deny)).toMatchObject({ state: 'denied', decision: { by: 'person' } })
  await expect(approvals.decide(id, approve)).rejects.toThrow(failsWith('intent/decided'))
  expect(signer.signatures()).toBe(0)
  expect(kinds()).toEqual(['intent.asked', 'intent.denied'])
})

test('accepts one of several concurrent decisions', async () => {
  const { approvals, signer } = approvalsOfTest()
  const { id } = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  const outcomes = await Promise.allSettled([approve, approve, deny, approve].map((it) => approvals.decide(id, it)))
  const won = outcomes.filter((it) => it.status === 'fulfilled')
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
  expect(won).toHaveLength(1)
  expect(errors).toEqual(['intent/decided', 'intent/decided', 'intent/decided'])
  expect(signer.signatures()).toBeLessThanOrEqual(1)
})

test('applies the first matching allow or deny rule', async () => {
  const { approvals } = approvalsOfTest()
  approvals.changePolicy(
    withRules([
      rule({ id: 'a', effect: 'deny', host: 'evil.example' }),
      rule({ id: 'b', effect: 'allow', kind: 'siwe', requester: 'client' }),
    ]),
  )
  expect(await approvals.submit({ intent: signInTo('evil.example'), requester: script })).toMatchObject({
    state: 'denied',
    decision: { by: 'policy', detail: 'Denied by your rule “Nobody may have anything signed for evil.example”.' },
    error: expect.stringContaining('evil.example'),
  })
  const allowed = await approvals.submit({ intent: signInTo('good.example'), requester: script })
  expect(allowed).toMatchObject({ state: 'signed', decision: { by: 'policy' } })
  expect(isGenuine(allowed.result, allowed.raw)).toBe(true)
  expect((await approvals.submit({ intent: payment('5'), requester: script })).state).toBe('waiting')
})

test('only the user may submit a message, whatever the policy allows', async () => {
  const { approvals } = approvalsOfTest()
  approvals.changePolicy(withRules([rule({ effect: 'allow' })]))
  for (const requester of [script, agent, { kind: 'tool', id: 't', name: 'Tool' } as const]) {
    expect(await approvals.submit({ intent: message, requester })).toMatchObject({ state: 'denied' })
  }
  expect(await approvals.submit({ intent: message, requester: person })).toMatchObject({ state: 'signed' })
})

test('signs in the local agent to its service unless a rule decides otherwise', async () => {
  const { approvals } = approvalsOfTest({ serviceHost: 'service.example:4000' })
  const submitOwn = () => approvals.submit({ intent: signInTo('service.example:4000'), requester: agent })
  expect(await submitOwn()).toMatchObject({ state: 'signed', decision: { by: 'steward' } })
  expect(await approvals.submit({ intent: signInTo('service.example'), requester: agent })).toMatchObject({
    state: 'waiting',
  })
  const byScript = await approvals.submit({ intent: signInTo('service.example:4000'), requester: script })
  expect(byScript.state).toBe('waiting')
  approvals.changePolicy(withRules([rule({ effect: 'ask', requester: 'agent' })]))
  expect(await submitOwn()).toMatchObject({ state: 'waiting' })
})

test('a new deny rule denies waiting intents and blocks their approval', async () => {
  const { approvals, signer, events } = approvalsOfTest()
  const record = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  const otherRecord = await approvals.submit({ intent: signInTo('b.example'), requester: script })
  const settled = approvals.waitUntilSettled(record.id, { waitMs: 60_000 })
  approvals.changePolicy(withRules([rule({ effect: 'deny', host: 'a.example' })]))
  const detail = 'Denied by your rule “Nobody may have anything signed for a.example”.'
  const denied = { state: 'denied', error: detail, decision: { by: 'policy', detail } }
  expect(await settled).toMatchObject(denied)
  expect(events.at(-1)).toMatchObject({ type: 'policy.changed' })
  for (const confirmed of [false, true]) {
    await expect(approvals.decide(record.id, { approve: true, confirmed })).rejects.toMatchObject({
      code: 'intent/decided',
      message: `This request was already decided: ${detail}`,
    })
  }
  expect(signer.signatures()).toBe(0)
  expect((await approvals.decide(otherRecord.id, approve)).state).toBe('signed')
})

test('denies everything under an unreadable policy and preserves its text on stop', async () => {
  const { approvals, database } = approvalsOfTest()
  approvals.changePolicy(withRules([rule({ effect: 'allow' })]))
  for (const damaged of ['{', '{"rules":[]}', '{"rules":[{"effect":"perhaps"}],"confirm_above_micro_usd":"1"}']) {
    database.prepare('UPDATE policy SET policy = ?').run(damaged)
    expect(await approvals.submit({ intent: signInTo('a.example'), requester: person })).toMatchObject({
      state: 'denied',
    })
    expect(approvals.policy().rules).toEqual([expect.objectContaining({ effect: 'deny', kind: '*', host: '*' })])
    approvals.switchStop(true)
    approvals.switchStop(false)
    expect(database.prepare('SELECT policy FROM policy').get()).toEqual({ policy: damaged })
  }
})

test('the stop switch denies waiting and new intents and discards a running signature', async () => {
  const { approvals, signer, kinds } = approvalsOfTest()
  const waiting = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  const underWay = await approvals.submit({ intent: signInTo('b.example'), requester: script })
  const release = signer.hold()
  const deciding = approvals.decide(underWay.id, approve)
  await until('it is being signed', () => approvals.get(underWay.id).state === 'approved')
  expect(approvals.switchStop(true).stopped).toBe(true)
  release()
  expect(await deciding).toMatchObject({ state: 'denied', decision: { by: 'stop' }, result: null })
  expect(approvals.get(waiting.id)).toMatchObject({ state: 'denied', decision: { by: 'stop' } })
  const late = await approvals.submit({ intent: signInTo('c.example'), requester: person })
  expect(late).toMatchObject({ state: 'denied', decision: { by: 'stop' } })
  expect(JSON.stringify(approvals.list({ limit: 10 }))).not.toContain('signature')
  expect(kinds().filter((kind) => kind === 'intent.signed')).toEqual([])
  approvals.switchStop(false)
  expect((await approvals.submit({ intent: signInTo('c.example'), requester: person })).state).toBe('waiting')
  expect(kinds().filter((kind) => kind.startsWith('stop.'))).toEqual(['stop.on', 'stop.off'])
})

test('requires an unlocked wallet to release the stop switch or loosen the policy', () => {
  const signer = createLockableSigner({ unlocked: false })
  const { approvals } = approvalsOfTest({ signer })
  const loose = [withRules([rule({ effect: 'allow' })]), { ...withRules([]), confirm_above_micro_usd: '10000001' }]
  for (const policy of loose) expect(() => approvals.changePolicy(policy)).toThrow(failsWith('wallet/locked'))
  const strict = withRules([rule({ effect: 'deny' })])
  expect(approvals.changePolicy(strict)).toEqual({ ...strict, stopped: false })
  expect(() => approvals.changePolicy(withRules([]))).toThrow(failsWith('wallet/locked'))
  approvals.switchStop(true)
  expect(() => approvals.switchStop(false)).toThrow(failsWith('wallet/locked'))
  signer.setUnlocked(true)
  expect(approvals.switchStop(false).stopped).toBe(false)
  expect(approvals.changePolicy(withRules([rule({ effect: 'allow' })])).rules).toHaveLength(1)
})

test('signs an allowed intent after unlock if the policy still allows it', async () => {
  const signer = createLockableSigner()
  const { approvals } = approvalsOfTest({ signer })
  approvals.changePolicy(withRules([rule({ effect: 'allow', kind: 'siwe' })]))
  signer.setUnlocked(false)
  const [one, other] = [signInTo('a.example'), signInTo('b.example')]
  const first = await approvals.submit({ intent: one, requester: script })
  expect(first).toMatchObject({ state: 'waiting', decision: { by: 'policy' } })
  const second = await approvals.submit({ intent: other, requester: script })
  const record = await approvals.submit({ intent: payment('5'), requester: script })
  approvals.changePolicy(
    withRules([rule({ id: 'r2', effect: 'deny', host: 'b.example' }), rule({ effect: 'allow', kind: 'siwe' })]),
  )
  signer.setUnlocked(true)
  const signed = await approvals.waitUntilSettled(first.id, { waitMs: 30_000 })
  expect(signed.state).toBe('signed')
  expect(isGenuine(signed.result, signed.raw)).toBe(true)
  expect(await approvals.waitUntilSettled(second.id, { waitMs: 30_000 })).toMatchObject({ state: 'denied' })
  expect(approvals.get(record.id).state).toBe('waiting')
})

test('checks the wallet outside of transactions', async () => {
  const plain = createLockableSigner()
  let inTransaction = () => false
  const confirmations: boolean[] = []
  const isUnlocked = () => {
    confirmations.push(inTransaction())
    return plain.wallet.isUnlocked()
  }
  const { approvals, database } = approvalsOfTest({ signer: { ...plain, wallet: { ...plain.wallet, isUnlocked } } })
  inTransaction = () => database.inTransaction
  const first = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  await approvals.decide(first.id, { ...approve, grant: { times: 3 } })
  plain.setUnlocked(false)
  const waiting = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  plain.setUnlocked(true)
  expect(await approvals.waitUntilSettled(waiting.id, { waitMs: 30_000 })).toMatchObject({ state: 'signed' })
  approvals.changePolicy(withRules([rule({ effect: 'allow' })]))
  approvals.switchStop(true)
  approvals.switchStop(false)
  expect(confirmations.filter(Boolean)).toEqual([])
  expect(confirmations.length).toBeGreaterThan(6)
})

test('rejects an approval while the wallet is locked and leaves the intent unchanged', async () => {
  const signer = createLockableSigner({ unlocked: false })
  const { approvals } = approvalsOfTest({ signer })
  const record = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  await expect(approvals.decide(record.id, approve)).rejects.toThrow(failsWith('wallet/locked'))
  expect(approvals.get(record.id)).toEqual(record)
  signer.setUnlocked(true)
  expect(approvals.get(record.id)).toEqual(record)
  expect((await approvals.decide(record.id, approve)).state).toBe('signed')
})

test('signs after unlock if the wallet locked during signing', async () => {
  const { approvals, signer } = approvalsOfTest()
  const { id } = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  const release = signer.hold()
  const deciding = approvals.decide(id, approve)
  await until('it is being signed', () => approvals.get(id).state === 'approved')
  signer.setUnlocked(false)
  release()
  expect(await deciding).toMatchObject({ state: 'waiting', decision: { by: 'person' } })
  signer.setUnlocked(true)
  expect(await approvals.waitUntilSettled(id, { waitMs: 30_000 })).toMatchObject({
    state: 'signed',
    decision: { by: 'person' },
  })
})

test('requires confirmation above the threshold despite rules and grants', async () => {
  const { approvals, signer } = approvalsOfTest()
  approvals.changePolicy(withRules([rule({ effect: 'allow' })]))
  expect((await approvals.submit({ intent: payment('10000000'), requester: script })).state).toBe('signed')
  const record = await approvals.submit({ intent: payment('10000001'), requester: script })
  expect(record).toMatchObject({ state: 'waiting', needs_confirmation: true, amount_micro_usd: '10000001' })
  await expect(approvals.decide(record.id, approve)).rejects.toThrow(failsWith('intent/confirmation'))
  await expect(approvals.decide(record.id, { approve: true, confirmed: true, grant: { times: 2 } })).rejects.toThrow(
    failsWith('intent/invalid'),
  )
  expect(approvals.get(record.id)).toEqual(record)
  expect(signer.signatures()).toBe(1)
  expect((await approvals.decide(record.id, { approve: true, confirmed: true })).state).toBe('signed')
  // A lowered threshold also applies to waiting intents.
  const { approvals: others } = approvalsOfTest()
  const small = await others.submit({ intent: payment('500'), requester: script })
  others.changePolicy({ ...withRules([]), confirm_above_micro_usd: '499' })
  await expect(others.decide(small.id, approve)).rejects.toThrow(failsWith('intent/confirmation'))
})

test('rejects an approval if the prepared text has changed since it was shown', async () => {
  const signer = createLockableSigner()
  let ending = ''
  const prepare: typeof signer.prepare = async (intent) => {
    const prepared = await signer.prepare(intent)
    return { ...prepared, raw: `${prepared.raw}${ending}` }
  }
  const { approvals } = approvalsOfTest({ signer: { ...signer, prepare } })
  const record = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  ending = '\nand more'
  await expect(approvals.decide(record.id, approve)).rejects.toThrow(failsWith('intent/invalid'))
  expect(approvals.get(record.id)).toEqual(record)
  expect(signer.signatures()).toBe(0)
})

test('enforces restrictions added during approval', async () => {
  const signer = createLockableSigner()
  let meanwhile = () => {}
  const prepare: typeof signer.prepare = async (intent) => {
    const prepared = await signer.prepare(intent)
    meanwhile()
    return prepared
  }
  const { approvals } = approvalsOfTest({ signer: { ...signer, prepare } })
  const record = await approvals.submit({ intent: payment('500'), requester: script })
  const grant = { times: 2 }
  meanwhile = () => signer.setUnlocked(false)
  await expect(approvals.decide(record.id, { ...approve, grant })).rejects.toThrow(failsWith('wallet/locked'))
  signer.setUnlocked(true)
  meanwhile = () => void approvals.changePolicy({ ...withRules([]), confirm_above_micro_usd: '499' })
  await expect(approvals.decide(record.id, { ...approve, grant })).rejects.toThrow(failsWith('intent/invalid'))
  await expect(approvals.decide(record.id, approve)).rejects.toThrow(failsWith('intent/confirmation'))
  expect([approvals.get(record.id), approvals.grants(), signer.signatures()]).toEqual([record, [], 0])
})

test('does not sign without a budget reservation, even with approval', async () => {
  const { approvals, signer } = approvalsOfTest({ reservations: createMemoryReservations(700n) })
  approvals.changePolicy(withRules([rule({ effect: 'allow', host: 'shop.example' })]))
  const ask = (host?: string) => approvals.submit({ intent: payment('500', host), requester: script })
  expect((await ask()).state).toBe('signed')
  expect(await ask()).toMatchObject({
    state: 'denied',
    decision: { by: 'policy' },
    error: 'The payment is above the budget.',
  })
  const record = await ask('other.example')
  await expect(approvals.decide(record.id, approve)).rejects.toMatchObject({
    code: 'intent/denied',
    message: 'The payment is above the budget.',
  })
  expect(approvals.get(record.id)).toEqual(record)
  expect(signer.signatures()).toBe(1)
})

test('a grant counts down to zero and no further', async () => {
  const { approvals, events, kinds } = approvalsOfTest()
  const ask = (amount: string, requester = script, host = 'shop.example') =>
    approvals.submit({ intent: payment(amount, host), requester })
  const first = await ask('500')
  await approvals.decide(first.id, { ...approve, grant: { times: 3 } })
  expect(approvals.grants()).toMatchObject([{ times_left: 2, max_amount_micro_usd: '500', host: 'shop.example' }])
  expect(kinds()).toContain('grant.added')
  expect(events).toContainEqual({ type: 'grants.changed' })
  expect((await ask('501')).state).toBe('waiting')
  expect((await ask('500', otherScript)).state).toBe('waiting')
  expect((await ask('500', script, 'other.example')).state).toBe('waiting')
  const answers = await Promise.all(Array.from({ length: 6 }, () => ask('500')))
  expect(answers.filter(({ state }) => state === 'signed')).toHaveLength(2)
  expect(answers.filter(({ state }) => state === 'waiting')).toHaveLength(4)
  expect(answers.find(({ state }) => state === 'signed')).toMatchObject({ decision: { by: 'grant' } })
  expect(approvals.grants()).toEqual([])
})

test('a grant is limited to one payee and network, or to one chain', async () => {
  const { approvals } = approvalsOfTest()
  const ask = async (intent: Parameters<typeof approvals.submit>[0]['intent']) => {
    const { id, state } = await approvals.submit({ intent, requester: script })
    return { id, state }
  }
  const times = { ...approve, grant: { times: 100 } }
  const payee = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F'
  const pays = { ...payment('500', 'shop.example', 'base-sepolia'), pay_to: payee.toLowerCase() }
  await approvals.decide((await ask(pays)).id, times)
  expect((await ask({ ...pays, network: 'base' })).state).toBe('waiting')
  expect((await ask({ ...pays, pay_to: `0x${'cd'.repeat(20)}` })).state).toBe('waiting')
  expect((await ask({ ...pays, network: 'eip155:84532', pay_to: payee })).state).toBe('signed')
  const signs = { ...signInTo('a.example'), chain_id: 84532 } as ReturnType<typeof signInTo>
  await approvals.decide((await ask(signs)).id, times)
  expect((await ask(signInTo('a.example'))).state).toBe('waiting')
  expect((await ask(signs)).state).toBe('signed')
  expect(approvals.grants().map(({ scope }) => scope)).toEqual([`eip155:84532:${payee.toLowerCase()}`, 'eip155:84532'])
})

test('a grant ends at its expiry or on revocation', async () => {
  let nowMs = 1_800_000_000_000
  const { approvals, kinds } = approvalsOfTest({ now: () => nowMs })
  const until = new Date(nowMs + 60_000).toISOString()
  const ask = async () => (await approvals.submit({ intent: signInTo('a.example'), requester: script })).state
  const first = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  await approvals.decide(first.id, { ...approve, grant: { until } })
  expect(await ask()).toBe('signed')
  nowMs += 60_000
  expect(await ask()).toBe('waiting')
  expect(approvals.grants()).toEqual([])
  const second = await approvals.submit({ intent: signInTo('b.example'), requester: script })
  await approvals.decide(second.id, { ...approve, grant: { times: 1000 } })
  const [grant] = approvals.grants()
  approvals.revokeGrant(grant?.id ?? '')
  expect((await approvals.submit({ intent: signInTo('b.example'), requester: script })).state).toBe('waiting')
  expect(() => approvals.revokeGrant(grant?.id ?? '')).toThrow(failsWith('grant/not-found'))
  expect(kinds()).toContain('grant.revoked')
})

test('a grant ends when its sandbox, domain or tool server is removed', async () => {
  const { approvals, kinds } = approvalsOfTest()
  const call = (tool: string, target: string) =>
    approvals.submit({
      intent: { kind: 'tool.call', tool, sentence: 'Do it.', target, arguments: '{}' },
      requester: script,
    })
  const targets = ['box_1', 'shop.example', 'tsv_1 0123456789abcdef']
  for (const target of [...targets, 'box_2']) {
    const { id } = await call('do_it', target)
    await approvals.decide(id, { ...approve, grant: { times: 5 } })
  }
  const listScopes = () => approvals.grants().map(({ scope }) => scope)
  expect(approvals.grantTargets()).toEqual(['box_1', 'shop.example', 'tsv_1', '0123456789abcdef', 'box_2'])
  for (const target of ['box_1', 'shop.example', 'tsv_1', 'do_it']) approvals.endGrantsFor(target)
  expect(listScopes()).toEqual(['do_it box_2'])
  expect(kinds().filter((kind) => kind === 'grant.revoked')).toHaveLength(3)
  expect((await call('do_it', 'box_1')).state).toBe('waiting')
  expect((await call('do_it', 'box_2')).state).toBe('signed')
})

test('a grant use that waits for the wallet counts when it is signed', async () => {
  const signer = createLockableSigner()
  const { approvals } = approvalsOfTest({ signer })
  const ask = () => approvals.submit({ intent: signInTo('a.example'), requester: script })
  await approvals.decide((await ask()).id, { ...approve, grant: { times: 2 } })
  signer.setUnlocked(false)
  const [first, second] = [await ask(), await ask()]
  expect(approvals.grants()).toMatchObject([{ times_left: 1 }])
  signer.setUnlocked(true)
  await until('one is signed', () => [first, second].some(({ id }) => approvals.get(id).state === 'signed'))
  await eventually(() => {
    const states = [first, second].map(({ id }) => approvals.get(id))
    expect(states.map(({ state }) => state).sort()).toEqual(['signed', 'waiting'])
    expect(states.find(({ state }) => state === 'waiting')?.decision).toBeNull()
  })
  expect(approvals.grants()).toEqual([])
})

test.each([
  ['a message', message, person, { times: 2 }, 'one at a time'],
  ['no end', signInTo('a.example'), script, {}, 'must have `times`'],
  ['a time that is past', signInTo('a.example'), script, { until: '2001-01-01T00:00:00.000Z' }, 'past'],
])('rejects a grant for %s', async (_, intent, requester, grant, words) => {
  const { approvals } = approvalsOfTest()
  const record = await approvals.submit({ intent, requester })
  const granting = approvals.decide(record.id, { ...approve, grant })
  await expect(granting).rejects.toThrow(failsWith('intent/invalid'))
  await expect(granting).rejects.toThrow(words)
  expect([approvals.get(record.id), approvals.grants()]).toEqual([record, []])
})

test('expires an undecided intent and notifies its caller', async () => {
  let nowMs = 1_800_000_000_000
  const { approvals, kinds } = approvalsOfTest({ now: () => nowMs })
  const record = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  expect(Date.parse(record.expires_at) - nowMs).toBe(15 * 60_000)
  const waiting = approvals.waitUntilSettled(record.id, { waitMs: 30_000 })
  nowMs += 15 * 60_000
  expect(approvals.list({ limit: 5 })).toMatchObject({ waiting: 0, intents: [{ state: 'expired' }] })
  expect(await waiting).toMatchObject({ state: 'expired', error: expect.any(String) })
  await expect(approvals.decide(record.id, approve)).rejects.toThrow('This request has expired.')
  expect(kinds()).toEqual(['intent.asked', 'intent.expired'])
})

test('a deadline follows clock changes and is reached by elapsed time', async () => {
  const minuteMs = 60_000
  const shift = { wallMs: 1_800_000_000_000, runningMs: 0 }
  const clock = openClock({
    source: {
      wallMs: () => shift.wallMs + shift.runningMs,
      runningMs: () => shift.runningMs,
      uptimeMs: () => shift.runningMs,
      bootId: undefined,
    },
    store: { read: () => undefined, write: () => {} },
  })
  onTestFinished(clock.close)
  const { approvals } = approvalsOfTest({ now: clock.now, clock })
  const record = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  for (const jumpMs of [365 * 24 * 60 * minuteMs, -2 * 365 * 24 * 60 * minuteMs]) {
    shift.wallMs += jumpMs
    shift.runningMs += minuteMs
    const { state, expires_at } = approvals.get(record.id)
    expect([state, Date.parse(expires_at) - clock.now()]).toEqual(['waiting', 15 * minuteMs - shift.runningMs])
  }
  shift.runningMs = 15 * minuteMs
  expect(approvals.get(record.id).state).toBe('expired')
})

test('a sign-in intent expires no later than its expiration time', async () => {
  const nowMs = 1_800_000_000_000
  const { approvals } = approvalsOfTest({ now: () => nowMs })
  const expiration_time = new Date(nowMs + 60_000).toISOString()
  const record = await approvals.submit({
    intent: { ...signInTo('a.example'), expiration_time } as never,
    requester: script,
  })
  expect(record.expires_at).toBe(expiration_time)
})

test('a restart preserves waiting intents, expires old ones and fails interrupted signing', async () => {
  let nowMs = 1_800_000_000_000
  const file = join(temporaryFolder('approvals'), 'agent.sqlite')
  const signer = createLockableSigner({ now: () => nowMs })
  const before = approvalsOfTest({ file, signer, now: () => nowMs })
  const old = await before.approvals.submit({ intent: signInTo('a.example'), requester: script })
  nowMs += 10 * 60_000
  const waiting = await before.approvals.submit({ intent: signInTo('b.example'), requester: script })
  const underWay = await before.approvals.submit({ intent: signInTo('c.example'), requester: script })
  const damaged = await before.approvals.submit({ intent: signInTo('d.example'), requester: script })
  const release = signer.hold()
  const deciding = before.approvals.decide(underWay.id, approve).catch((error: unknown) => error)
  await until('it is being signed', () => before.approvals.get(underWay.id).state === 'approved')
  before.database.prepare("UPDATE intents SET intent = '{' WHERE id = ?").run(damaged.id)
  before.close()
  release()
  expect(await deciding).toBeInstanceOf(AppError)
  nowMs += 5 * 60_000

  const { approvals } = approvalsOfTest({ file, signer, now: () => nowMs })
  expect(approvals.get(old.id).state).toBe('expired')
  expect(approvals.get(underWay.id)).toMatchObject({ state: 'failed', result: null, error: expect.any(String) })
  expect(approvals.list({ limit: 9 }).waiting).toBe(1)
  expect(() => approvals.get(damaged.id)).toThrow(failsWith('intent/not-found'))
  expect((await approvals.decide(waiting.id, approve)).state).toBe('signed')
})

test('rejects excess submissions and preserves the waiting ones', async () => {
  const { approvals } = approvalsOfTest()
  const ask = (index: number) =>
    approvals.submit({ intent: signInTo('a.example'), requester: { kind: 'client', id: `key:${index}`, name: 'x' } })
  for (let index = 0; index < 20; index++) await ask(0)
  await expect(ask(0)).rejects.toThrow(failsWith('intent/too-many'))
  for (let index = 0; index < 80; index++) await ask(1 + Math.floor(index / 20))
  await expect(ask(99)).rejects.toThrow('100 requests are already waiting')
  const [newest] = approvals.list({ limit: 1 }).intents
  await approvals.decide(newest?.id ?? '', deny)
  expect((await ask(99)).state).toBe('waiting')
})

test('applies the same limit to concurrent submissions', async () => {
  const { approvals } = approvalsOfTest()
  const ask = () => approvals.submit({ intent: signInTo('a.example'), requester: script })
  const results = await Promise.allSettled(Array.from({ length: 30 }, ask))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  expect(approvals.list({ limit: 50 }).waiting).toBe(20)
})

test('only the requester may cancel its intent', async () => {
  const { approvals } = approvalsOfTest()
  const record = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  expect(() => approvals.cancel(record.id, otherScript)).toThrow(failsWith('intent/not-found'))
  expect(approvals.cancel(record.id, script)).toMatchObject({ state: 'denied', decision: null })
  expect(() => approvals.cancel(record.id, script)).toThrow(failsWith('intent/decided'))
  await expect(approvals.decide(record.id, approve)).rejects.toThrow(failsWith('intent/decided'))
})

test('a wait ends on a decision or timeout, an abort or shutdown', async () => {
  const { approvals, close } = approvalsOfTest()
  const { id } = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  expect((await approvals.waitUntilSettled(id, { waitMs: 1 })).state).toBe('waiting')
  const controller = new AbortController()
  const cancelledWait = approvals.waitUntilSettled(id, { waitMs: 60_000, signal: controller.signal })
  controller.abort()
  expect((await cancelledWait).state).toBe('waiting')
  const reply = approvals.waitUntilSettled(id, { waitMs: 60_000 })
  await approvals.decide(id, approve)
  expect((await reply).state).toBe('signed')
  const next = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  const ended = approvals.waitUntilSettled(next.id, { waitMs: 60_000 })
  close()
  await expect(ended).rejects.toThrow(failsWith('service/unavailable'))
})

test('a signing error leaves a failed intent without a signature', async () => {
  const signer = createLockableSigner()
  const { approvals } = approvalsOfTest({
    signer: { ...signer, sign: async () => Promise.reject(new AppError('intent/invalid', 'It would not verify.')) },
  })
  const { id } = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  expect(await approvals.decide(id, approve)).toMatchObject({ state: 'failed', error: 'It would not verify.' })
})

test('retains waiting intents and the 2000 newest that the user decided', async () => {
  const { approvals, database } = approvalsOfTest()
  const waiting = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  const done = await approvals.submit({ intent: signInTo('a.example'), requester: script })
  await approvals.decide(done.id, deny)
  const copy = database.prepare(
    `INSERT INTO intents (id, kind, state, requester_kind, requester_id, intent, record, created_at_ms, expires_at_ms)
     SELECT 'copy_' || ?, kind, state, requester_kind, requester_id, intent, record, created_at_ms + 1, expires_at_ms
     FROM intents WHERE id = ?`,
  )
  database.transaction(() => {
    for (let index = 0; index < 2000; index++) copy.run(index, done.id)
  })()
  await approvals.submit({ intent: signInTo('a.example'), requester: script })
  expect(database.prepare('SELECT count(*) AS count FROM intents').get()).toEqual({ count: 2002 })
  expect(approvals.get(waiting.id).state).toBe('waiting')
  expect(() => approvals.get(done.id)).toThrow(failsWith('intent/not-found'))
})

test('a flooding program cannot evict intents of the user or other requesters', async () => {
  const { approvals, database } = approvalsOfTest()
  const ask = (requester = script) => approvals.submit({ intent: signInTo('a.example'), requester })
  const decided = await ask()
  await approvals.decide(decided.id, deny)
  const ofOther = await ask(otherScript)
  approvals.cancel(ofOther.id, otherScript)
  approvals.changePolicy(withRules([rule({ effect: 'deny' })]))
  const ofPerson = await ask(person)
  const flooded = await ask()
  const copy = database.prepare(
    `INSERT INTO intents (id, kind, state, requester_kind, requester_id, intent, record, created_at_ms, expires_at_ms)
     SELECT ? || '_' || ?, kind, state, requester_kind, ?, intent, record, created_at_ms + 1, expires_at_ms
     FROM intents WHERE id = ?`,
  )
  const flood = (requesterId: string, count: number) =>
    database.transaction(() => {
      for (let index = 0; index < count; index++) copy.run(requesterId, index, requesterId, flooded.id)
    })()
  const count = () => database.prepare<[], { count: number }>('SELECT count(*) AS count FROM intents').get()?.count
  for (let key = 10; key < 20; key++) flood(`key:${key}`, 500)
  await ask(person)
  for (const { id } of [decided, ofOther, ofPerson]) expect(approvals.get(id).state).toBe('denied')
  expect(count()).toBe(5003)

  flood(script.id, 3000)
  await ask()
  for (const { id } of [decided, ofOther, ofPerson]) expect(approvals.get(id).state).toBe('denied')
  expect(() => approvals.get(flooded.id)).toThrow(failsWith('intent/not-found'))
  expect(count()).toBe(5003)
})
