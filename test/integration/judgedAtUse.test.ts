import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createProgramSandboxes } from '#agent/tools/programSandboxes.ts'
import { createProgramSandboxRepository } from '#agent/tools/programSandboxRepository.ts'
import { silentLog } from '#platform/logging/log.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import {
  type AuthorityWorld,
  openAuthorityWorld,
  passphrase,
  paymentIntent,
} from '../support/fixtures/authorityWorld.ts'
import type { Json } from '../support/processes/runningService.ts'

/** Permissions are read at use: the current rights, budgets, rules, limits and targets apply. */
let world: AuthorityWorld
let names = 0
const fresh = (): string => `judged-${++names}`
const allowed = { changes: 'allow', destroys: 'allow' } as const
const denied = { changes: 'deny', destroys: 'deny' } as const

beforeAll(async () => {
  world = await openAuthorityWorld()
})
afterAll(() => world?.close())
afterEach(async () => {
  for (const { id } of (await world.send('/local/intents?state=waiting')).json.intents) {
    await world.decide(id, { approve: false })
  }
})

const newSandbox = async (name = fresh()): Promise<string> =>
  (await world.service.send('/v1/sandboxes', { body: { name } })).json.id
const exists = async (id: string): Promise<boolean> => (await world.service.send(`/v1/sandboxes/${id}`)).status === 200
const approve = (id: string) => world.decide(id, { approve: true })

describe('a waiting call is refused immediately and cannot be approved when its client', () => {
  test.each([
    ['may not destroy', { policy: denied }, 'This client is not allowed to call sandbox_delete.'],
    ['is read-only', { profile: 'read-only' }, 'sandbox_delete is not in the profile “read-only” of this client.'],
    ['runs dry', { dry_run: true }, 'Dry run: sandbox_delete was validated but not run.'],
  ])('%s', async (_, settings, sentence) => {
    const sandbox_id = await newSandbox()
    const { id, call, change } = await world.addToolClient({ name: fresh() })
    const waits = call('sandbox_delete', { sandbox_id })
    const request = await world.waitingRequest(id)
    expect((await change(settings)).status).toBe(200)
    expect(await waits).toMatchObject({ isError: true, text: expect.stringContaining(sentence) })
    const { status, json } = await approve(request.id)
    expect([status, json.code]).toEqual([409, 'intent/decided'])
    expect(json.error).toContain(sentence)
    expect(await exists(sandbox_id)).toBe(true)
  })
})

test('a program continues to read but cannot change anything after its client is restricted', async () => {
  const { call, change } = await world.addToolClient({ profile: 'code', policy: allowed } as object)
  const ran = call('operations_run', {
    sandbox_id: world.box,
    code: `import { existsSync, writeFileSync } from 'node:fs'
      const step = async (name, wait) => {
        writeFileSync('/root/at-' + name, '')
        while (!existsSync('/root/' + wait)) await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const write = () => steward.sandbox_write_file({ sandbox_id: '${world.box}', path: '/root/written', content: 'x' })
        .then(() => 'written', (failure) => failure.message)
      await step('first', 'go-1')
      const first = await write()
      await step('second', 'go-2')
      const second = await write()
      const read = (await steward.sandbox_get({ sandbox_id: '${world.box}' })).id
      await step('third', 'go-3')
      export default [first, second, read === '${world.box}', await write()]`,
  })
  const waitForProgram = (name: string) =>
    until(`the program reaches ${name}`, async () => (await world.run('ls /root')).includes(`at-${name}\n`))
  await waitForProgram('first')
  await world.run('touch /root/go-1')
  await waitForProgram('second')
  await change({ policy: denied })
  await world.run('touch /root/go-2')
  await waitForProgram('third')
  await change({ policy: allowed, dry_run: true })
  await world.run('touch /root/go-3')
  const [first, second, isRead, third] = (await ran).result.value
  expect([first, isRead]).toEqual(['written', true])
  expect(second).toContain('This client is not allowed to call sandbox_write_file.')
  expect(third).toContain('Dry run')
  await world.run('rm -f /root/go-* /root/at-* /root/written')
})

test('a program makes no further calls after its client is revoked', async () => {
  const { call, end } = await world.addToolClient({ profile: 'code' })
  const ran = call('operations_run', {
    sandbox_id: world.box,
    code: `import { existsSync, writeFileSync } from 'node:fs'
      writeFileSync('/root/at-start', '')
      while (!existsSync('/root/go')) await new Promise((resolve) => setTimeout(resolve, 20))
      await steward.sandbox_create({ name: 'made-after-revoke' })`,
  })
  await until('the program runs', async () => (await world.run('ls /root')).includes('at-start'))
  await end()
  await world.run('touch /root/go')
  expect((await ran).text).toContain('The tool client was revoked.')
  await until('the program has ended', async () => (await world.run('pgrep -f steward-.*/main.mj[s]; true')) === '')
  expect(await world.sandboxNames()).not.toContain('made-after-revoke')
  await world.run('rm -f /root/go /root/at-start')
})

test('does not run an approved call if its client may no longer run programs', async () => {
  const sandbox_id = await newSandbox()
  const { id, call, change } = await world.addToolClient({ profile: 'code', policy: allowed } as object)
  const ran = call('operations_run', {
    sandbox_id: world.box,
    code: `export default await steward.sandbox_delete({ sandbox_id: '${sandbox_id}' }).catch((failure) => failure.message)`,
  })
  const request = await world.waitingRequest(id)
  await change({ profile: 'sandboxes' })
  expect((await approve(request.id)).json.code).toBe('intent/decided')
  expect((await ran).result.value).toContain('operations_run is not in the profile “sandboxes”.')
  expect(await exists(sandbox_id)).toBe(true)
})

describe('a chat', () => {
  test.each([
    ['off', { enabled: false }],
    ['read-only', { profile: 'read-only' }],
  ])('whose tools are turned %s during a run creates nothing in the next step', async (label, tools) => {
    const chat = await world.addChat()
    const file = fresh()
    const name = `after-${label}`
    const message = await chat.ask(
      [
        'sandbox_exec',
        { sandbox_id: world.box, command: `touch /root/at-${file}; until test -e /root/${file}; do sleep 0.02; done` },
      ],
      ['sandbox_create', { name }],
    )
    await until('its command runs', async () => (await world.run('ls /root')).includes(`at-${file}`))
    expect((await chat.change(tools)).status).toBe(200)
    await world.run(`touch /root/${file}`)
    await eventually(async () => expect((await chat.message(message)).finished_at).not.toBeNull())
    const { calls } = await chat.message(message)
    expect(calls[0]).toMatchObject({ tool: 'sandbox_exec', state: 'done' })
    expect(calls.map(({ tool, state }: Json) => [tool, state]).slice(1)).toEqual([['sandbox_create', 'failed']])
    expect(await world.sandboxNames()).not.toContain(name)
  })

  test('has its waiting call refused when its tools are turned off', async () => {
    const sandbox_id = await newSandbox()
    const chat = await world.addChat()
    const message = await chat.ask(['sandbox_delete', { sandbox_id }])
    const request = await world.waitingRequest(chat.id)
    await chat.change({ enabled: false })
    expect((await approve(request.id)).json).toMatchObject({ code: 'intent/decided' })
    await eventually(async () => {
      const { state, calls } = await chat.message(message)
      expect([state, calls[0].state]).toEqual(['complete', 'denied'])
      expect(calls[0].output).toContain('Tools are off in this chat.')
    })
    expect(await exists(sandbox_id)).toBe(true)
  })

  test('withdraws its request in the name of the user when stopped', async () => {
    const chat = await world.addChat()
    const message = await chat.ask(['sandbox_delete', { sandbox_id: world.box }])
    const request = await world.waitingRequest(chat.id)
    await world.send(`/local/chat/messages/${message}/stop`, { body: {} })
    await eventually(async () => expect((await world.request(request.id)).state).toBe('denied'))
    expect((await world.log('Withdrawn'))[0]).toMatch(/^You: Withdrawn: Delete the sandbox/)
  })
})

describe('a waiting payment', () => {
  const register = async (budget = 50_000_000) => {
    const client = await world.addToolClient({ name: fresh(), daily_budget_micro_usd: budget })
    const bought = client.call('domain_register', { domain: `${fresh()}.com` })
    return { ...client, bought, request: await world.waitingRequest(client.id) }
  }
  const credits = async (): Promise<number> => (await world.service.send('/v1/credits/balance')).json.balance_cents

  test('is not approved above its client budget and shows the reason until budget is available', async () => {
    const { change, request } = await register()
    const before = await credits()
    await change({ daily_budget_micro_usd: 1_000_000 })
    const sentence = "This would cost more than the $1.00 left of this client's daily budget of $1.00."
    expect((await world.request(request.id)).blocked_reason).toBe(sentence)
    const { status, json } = await approve(request.id)
    expect([status, json.code, json.error]).toEqual([403, 'intent/denied', sentence])
    const notice = world.agent.events.findLast(
      (event) => event.type === 'intent.changed' && event.intent.id === request.id,
    )
    expect(notice).toMatchObject({ intent: { state: 'waiting', blocked_reason: sentence } })
    await change({ daily_budget_micro_usd: 50_000_000 })
    expect(await world.request(request.id)).toMatchObject({ state: 'waiting' })
    expect((await world.request(request.id)).blocked_reason).toBeUndefined()
    expect(await credits()).toBe(before)
  })

  test('is refused immediately by a new rule and returns the refusal to its call', async () => {
    const { bought, request } = await register()
    const { rules, confirm_above_micro_usd, expiry_minutes } = world.agent.approvals.policy()
    const deny = { ...rules[0], id: 'no', effect: 'deny', kind: 'x402.authorize' } as (typeof rules)[number]
    world.agent.approvals.changePolicy({ rules: [deny, ...rules], confirm_above_micro_usd, expiry_minutes })
    expect((await bought).text).toContain('Denied by your rule')
    expect(await world.request(request.id)).toMatchObject({ state: 'denied', decision: { by: 'policy' } })
    world.agent.approvals.changePolicy({ rules, confirm_above_micro_usd, expiry_minutes })
    expect((await approve(request.id)).json.code).toBe('intent/decided')
  })

  test('is refused when its client may no longer pay', async () => {
    const { bought, change, request } = await register()
    await change({ profile: 'sandboxes' })
    expect((await bought).text).toContain('domain_register is not in the profile “sandboxes” of this client.')
    expect((await world.request(request.id)).state).toBe('denied')
  })

  test('is refused unpaid when its sandbox is deleted', async () => {
    const sandbox_id = await newSandbox()
    await world.service.send(`/v1/sandboxes/${sandbox_id}/ports/expose`, { body: { port: 80 } })
    const bought = (
      await world.send('/local/payments/domains/register', {
        body: { domain: `${fresh()}.com`, sandbox_id, sandbox_port: 80 },
      })
    ).json
    expect(bought.payment?.state, JSON.stringify(bought)).toBe('waiting')
    await world.service.send(`/v1/sandboxes/${sandbox_id}`, { method: 'DELETE' })
    const sentence = `The sandbox ${sandbox_id.slice(0, 8)} no longer exists.`
    await eventually(async () => {
      expect(await world.request(bought.payment.intent_id)).toMatchObject({ state: 'denied', error: sentence })
    })
    const { payment } = await readPayment(bought.payment.id)
    expect(payment).toMatchObject({ state: 'refused', paid: false, error: sentence })
  })

  const readPayment = async (id: string): Promise<{ payment: Json }> => ({
    payment: (await world.send(`/local/payments/${id}`)).json,
  })
})

test('a deletion request ends without an approval entry when the user deletes the sandbox', async () => {
  const sandbox_id = await newSandbox()
  const { id, call } = await world.addToolClient()
  const waits = call('sandbox_delete', { sandbox_id })
  const request = await world.waitingRequest(id)
  await world.service.send(`/v1/sandboxes/${sandbox_id}`, { method: 'DELETE' })
  const sentence = `The sandbox ${sandbox_id.slice(0, 8)} no longer exists.`
  expect((await waits).text).toContain(sentence)
  expect((await approve(request.id)).json.error).toContain(sentence)
  expect((await world.log('Delete the sandbox')).filter((entry) => entry.includes('You approved'))).toEqual([])
})

test('refuses immediately a request for a sandbox that no longer exists', async () => {
  const { call } = await world.addToolClient()
  const { text, isError } = await call('sandbox_delete', { sandbox_id: 'f'.repeat(32) })
  expect([isError, text]).toEqual([true, expect.stringContaining('no longer exists')])
})

test('stopping everything ends running calls', async () => {
  const { call } = await world.addToolClient()
  const ran = call('sandbox_exec', { sandbox_id: world.box, command: 'sleep 3009' })
  await until('it runs', async () => (await world.run('pgrep -xf "sleep 300[9]"; true')) !== '')
  world.agent.approvals.switchStop(true)
  expect((await ran).text).toContain('Everything is stopped.')
  await until('it has ended', async () => (await world.run('pgrep -xf "sleep 300[9]"; true')) === '')
  await world.agent.wallet.unlock(passphrase)
  world.agent.approvals.switchStop(false)
})

test('detects at the next connect a key revoked while the agent was disconnected', async () => {
  const { end, send } = await world.addKey()
  const request = (await send('/local/intents', { body: { intent: paymentIntent(fresh()) } })).json
  const { url, key } = world.service
  world.agent.connect({ url: 'http://127.0.0.1:9', key, certificate: undefined })
  await end()
  expect((await world.request(request.id)).state).toBe('waiting')
  world.agent.connect({ url, key, certificate: undefined })
  await eventually(async () => {
    expect(await world.request(request.id)).toMatchObject({ state: 'denied', error: 'The API key was revoked.' })
  })
})

test('detects at the next connect a sign-out that happened while the agent was disconnected', async () => {
  const { end, send } = await world.addSignIn('sign-out')
  const other = await world.addSignIn()
  const [request, otherRequest] = [
    (await send('/local/intents', { body: { intent: paymentIntent(fresh()) } })).json,
    (await other.send('/local/intents', { body: { intent: paymentIntent(fresh()) } })).json,
  ]
  const { url, key } = world.service
  world.agent.connect({ url: 'http://127.0.0.1:9', key, certificate: undefined })
  await end()
  expect((await world.request(request.id)).state).toBe('waiting')
  world.agent.connect({ url, key, certificate: undefined })
  await eventually(async () => {
    expect(await world.request(request.id)).toMatchObject({ state: 'denied', error: 'This sign-in has ended.' })
  })
  expect((await world.request(otherRequest.id)).state).toBe('waiting')
  await world.decide(otherRequest.id, { approve: false })
})

test('a remembered approval ends with its sandbox', async () => {
  const name = fresh()
  const { id, call } = await world.addToolClient({ name })
  const deleted = call('sandbox_delete', { sandbox_id: await newSandbox() })
  await world.decide((await world.waitingRequest(id)).id, { approve: true, grant: { times: 5 } })
  expect((await deleted).result).toMatchObject({ success: true })
  await eventually(async () => {
    expect(await world.listGrants(id)).toEqual([])
    // The log shows that it existed and that Steward ended it.
    expect(await world.log('remembered approval')).toContain(`Steward: The remembered approval of ${name} ended.`)
  })
})

test('the next start deletes a sandbox left by a program, which stops when idle', async () => {
  const { database, client } = world.agent
  const options = { rows: createProgramSandboxRepository(database), client, now: Date.now, log: silentLog }
  const earlier = createProgramSandboxes({ ...options, newId: () => 'abcdef01' })
  const unrelated = await newSandbox('program-abcdef02')
  const { id } = await earlier.create({ call: client.call, callToEnd: client.call })
  expect((await world.service.send(`/v1/sandboxes/${id}`)).json).toMatchObject({
    name: 'program-abcdef01',
    idle_minutes: 10,
  })
  await earlier.sweep()
  expect(await exists(id)).toBe(true) // its program runs
  const next = createProgramSandboxes({ ...options, newId: () => 'abcdef03' })
  await next.sweep()
  expect([await exists(id), await exists(unrelated), options.rows.all()]).toEqual([false, true, []])

  const deleted = await createProgramSandboxes({ ...options, newId: () => 'abcdef04' }).create({
    ...{ call: client.call, callToEnd: client.call },
  })
  await world.service.send(`/v1/sandboxes/${deleted.id}`, { method: 'DELETE' })
  const sameName = await newSandbox('program-abcdef04')
  await next.sweep()
  expect(await exists(sameName)).toBe(true)
})
