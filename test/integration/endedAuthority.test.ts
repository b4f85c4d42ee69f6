import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LeaseHolder, leaseHolders, type RevocablePrincipal } from '#agent/base/agentPrincipals.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { type AuthorityWorld, openAuthorityWorld, paymentIntent } from '../support/fixtures/authorityWorld.ts'
import type { Json } from '../support/processes/runningService.ts'

/**
 * All work and stored data of a requester end with it. The cells are generated from the table of work kinds. A kind
 * without a case here fails.
 */
let world: AuthorityWorld
let names = 0
const fresh = (): string => `ended-${++names}`

beforeAll(async () => {
  world = await openAuthorityWorld()
})
afterAll(() => world?.close())

type Begun = {
  /** Ends the principal. */
  end(): Promise<unknown>
  expectEnded(): Promise<void>
}
type Cell = `${RevocablePrincipal} × ${LeaseHolder}`

const sleeping = async (command: string) =>
  (await world.run(`pgrep -xf "${command.replace(/.$/, '[$&]')}"; true`)) !== ''
const begins = (command: string) => until(`${command} runs`, () => sleeping(command))
const ends = (command: string) => until(`${command} has ended`, async () => !(await sleeping(command)))

async function expectWithdrawn(request: Json, sentence: string, actor: string): Promise<void> {
  const denied = await until('the request ends', async () => {
    const record = await world.request(request.id)
    return record.state === 'denied' ? record : undefined
  })
  expect(denied).toMatchObject({ decision: null, error: sentence, result: null })
  const approved = await world.decide(request.id, { approve: true })
  expect([approved.status, approved.json.code]).toEqual([409, 'intent/decided'])
  expect(approved.text).toContain(sentence)
  const entries = await world.log('Withdrawn')
  const words = /[.!?]$/.test(request.sentence) ? request.sentence : `${request.sentence}.`
  expect(entries).toContain(`${actor}: Withdrawn: ${words} ${sentence}`)
}

/** A wallet that signs out. It remains linked, and its other sign-ins remain valid. */
const signedOut = {
  ...{ kind: 'token that signs out', sentence: 'This sign-in has ended.' },
  add: () => world.addSignIn('sign-out'),
} as const

/** Programs that call the local API with a credential of the service. */
const programs = [
  { kind: 'key', add: () => world.addKey(), sentence: 'The API key was revoked.' },
  { kind: 'token', add: () => world.addSignIn(), sentence: 'This sign-in has ended.' },
] as const
type Program = (typeof programs)[number] | typeof signedOut

const programCases: Readonly<Record<string, (program: Program) => Promise<Begun>>> = {
  async request({ add, sentence }) {
    const { send, end } = await add()
    const request = (await send('/local/intents', { body: { intent: paymentIntent(fresh()) } })).json
    expect(request.state).toBe('waiting')
    return { end, expectEnded: () => expectWithdrawn(request, sentence, 'Steward') }
  },
  async grant({ add }) {
    const { id, send, end } = await add()
    const request = (await send('/local/intents', { body: { intent: paymentIntent(fresh()) } })).json
    const signed = await world.decide(request.id, { approve: true, grant: { times: 5 } })
    expect(signed.json.state, signed.text).toBe('signed')
    expect(await world.listGrants(id)).toHaveLength(1)
    return { end, expectEnded: () => eventually(async () => expect(await world.listGrants(id)).toEqual([])) }
  },
  async 'local-request'({ add, sentence }) {
    const { send, end } = await add()
    const request = (await send('/local/intents', { body: { intent: paymentIntent(fresh()) } })).json
    const poll = send(`/local/intents/${request.id}?wait_ms=60000`)
    await until('the poll waits', () => world.agent.principals.count()['local-request'] === 1)
    return {
      end,
      async expectEnded() {
        const { status, json, text } = await poll
        expect([status, json.code, json.error]).toEqual([401, 'auth/invalid', sentence])
        expect(text).not.toContain('signature')
      },
    }
  },
  async payment({ add, sentence }) {
    const { id, send, end } = await add()
    const bought = (await send('/local/payments/topup', { body: { amount_usd: 5 } })).json
    expect(bought.payment.state).toBe('waiting')
    const request = await world.waitingRequest(id)
    return { end, expectEnded: () => expectRefused(request, sentence) }
  },
}

const cells: Readonly<Record<string, () => Promise<Begun>>> = {
  ...Object.fromEntries(
    programs.flatMap((program) =>
      Object.entries(programCases).map(([holder, begin]) => [`${program.kind} × ${holder}`, () => begin(program)]),
    ),
  ),
  async 'tool × tool-call'() {
    const { call, end } = await world.addToolClient()
    const ran = call('sandbox_exec', { sandbox_id: world.box, command: 'sleep 3001' })
    await begins('sleep 3001')
    return {
      end,
      async expectEnded() {
        expect(await ran).toMatchObject({
          isError: true,
          text: expect.stringContaining('The tool client was revoked.'),
        })
        await ends('sleep 3001')
      },
    }
  },
  async 'chat × tool-call'() {
    const chat = await world.addChat()
    const message = await chat.ask(['sandbox_exec', { sandbox_id: world.box, command: 'sleep 3002' }])
    await begins('sleep 3002')
    return {
      end: chat.end,
      async expectEnded() {
        await ends('sleep 3002')
        await chat.restore()
        await eventually(async () => {
          expect(await chat.message(message)).toMatchObject({ state: 'stopped', calls: [{ state: 'stopped' }] })
        })
      },
    }
  },
  async 'tool × program'() {
    const { call, end } = await world.addToolClient({ profile: 'code' })
    const before = await world.sandboxNames()
    const ran = call('operations_run', {
      code: `await steward.sandbox_list()
        await new Promise((resolve) => setTimeout(resolve, 600_000))`,
    })
    await until('its sandbox is there', async () => (await world.sandboxNames()).length > before.length)
    await until('the program runs', () => world.agent.principals.count().program === 1)
    return {
      end,
      async expectEnded() {
        expect(await ran).toMatchObject({
          isError: true,
          text: expect.stringContaining('The tool client was revoked.'),
        })
        await until('its sandbox is gone', async () => (await world.sandboxNames()).length === before.length)
      },
    }
  },
  async 'tool × request'() {
    const { id, call, end } = await world.addToolClient()
    const waits = call('sandbox_delete', { sandbox_id: world.box })
    const request = await world.waitingRequest(id)
    return {
      end,
      async expectEnded() {
        expect((await waits).text).toContain('The tool client was revoked.')
        await expectWithdrawn(request, 'The tool client was revoked.', 'You')
      },
    }
  },
  async 'chat × request'() {
    const chat = await world.addChat()
    await chat.ask(['sandbox_delete', { sandbox_id: world.box }])
    const request = await world.waitingRequest(chat.id)
    return { end: chat.end, expectEnded: () => expectWithdrawn(request, 'The chat was deleted.', 'You') }
  },
  async 'wallet × request'() {
    const account = await world.addAccount()
    const { send } = await world.addKey()
    const request = (await send('/local/intents', { body: { intent: paymentIntent(fresh(), account.id) } })).json
    expect(request.account_id).toBe(account.id)
    return {
      end: account.end,
      async expectEnded() {
        const error = expect.stringMatching(/^You removed “.+” from the wallet\.$/)
        expect(await world.request(request.id)).toMatchObject({ state: 'denied', error, result: null })
        expect((await world.decide(request.id, { approve: true })).json.code).toBe('intent/decided')
      },
    }
  },
  async 'tool × grant'() {
    const { id, call, end } = await world.addToolClient()
    const changed = call('domain_privacy', { domain: await world.addDomain(), enabled: false })
    await world.decide((await world.waitingRequest(id)).id, { approve: true, grant: { times: 5 } })
    expect((await changed).result).toMatchObject({ success: true })
    expect(await world.listGrants(id)).toHaveLength(1)
    return { end, expectEnded: async () => expect(await world.listGrants(id)).toEqual([]) }
  },
  async 'chat × grant'() {
    const chat = await world.addChat()
    const message = await chat.ask(['domain_privacy', { domain: await world.addDomain(), enabled: false }])
    const until = new Date(Date.now() + 3_600_000).toISOString()
    await world.decide((await world.waitingRequest(chat.id)).id, { approve: true, grant: { until } })
    await eventually(async () => expect((await chat.message(message)).state).toBe('complete'))
    expect(await world.listGrants(chat.id)).toHaveLength(1)
    return {
      end: chat.end,
      async expectEnded() {
        expect(await world.listGrants(chat.id)).toEqual([])
        expect((await chat.restore()).status).toBe(200)
        expect(await world.listGrants(chat.id)).toEqual([])
      },
    }
  },
  async 'wallet × grant'() {
    const account = await world.addAccount()
    const { id, send } = await world.addKey()
    const request = (await send('/local/intents', { body: { intent: paymentIntent(fresh(), account.id) } })).json
    await world.decide(request.id, { approve: true, grant: { times: 5 } })
    expect(await world.listGrants(id)).toHaveLength(1)
    return { end: account.end, expectEnded: async () => expect(await world.listGrants(id)).toEqual([]) }
  },
  async 'chat × chat-run'() {
    const chat = await world.addChat({ enabled: false })
    const { promise, resolve } = Promise.withResolvers<void>()
    world.providers.clear()
    world.providers.play({ parts: [{ text: 'word' }], usage: { input: 1, output: 1 } as never, until: promise })
    const response = await world.send(`/local/chat/conversations/${chat.id}/messages`, {
      body: { parent_id: null, text: 'Go on' },
    })
    await until('the provider is asked', () => world.providers.requests.length === 1)
    return {
      end: chat.end,
      async expectEnded() {
        await until('the answer has ended', () => world.agent.principals.count()['chat-run'] === undefined)
        await chat.restore()
        expect(await chat.message(response.json.answers[0].id)).toMatchObject({ state: 'stopped' })
        resolve()
      },
    }
  },
  async 'tool × payment'() {
    const { id, call, end } = await world.addToolClient({ daily_budget_micro_usd: 50_000_000 })
    const bought = call('domain_register', { domain: `${fresh()}.com` })
    const request = await world.waitingRequest(id)
    return {
      end,
      async expectEnded() {
        expect((await bought).text).toContain('The tool client was revoked.')
        await expectRefused(request, 'The tool client was revoked.')
      },
    }
  },
  async 'chat × payment'() {
    const chat = await world.addChat()
    await chat.ask(['domain_register', { domain: `${fresh()}.com` }])
    const request = await world.waitingRequest(chat.id)
    return { end: chat.end, expectEnded: () => expectRefused(request, 'The chat was deleted.') }
  },
  async 'wallet × payment'() {
    const account = await world.addAccount()
    account.makeDefault()
    const { id, send } = await world.addKey()
    const bought = (await send('/local/payments/topup', { body: { amount_usd: 5 } })).json
    expect(bought.payment.state).toBe('waiting')
    const request = await world.waitingRequest(id)
    expect(request.account_id).toBe(account.id)
    return {
      end: account.end,
      expectEnded: () => expectRefused(request, expect.stringMatching(/^You removed “.+” from the wallet\.$/)),
    }
  },
}

async function expectRefused(request: Json, sentence: unknown): Promise<void> {
  await eventually(async () => {
    const { payments } = (await world.send('/local/payments?limit=50')).json
    const payment = payments.find(({ intent_id }: Json) => intent_id === request.id)
    expect(payment).toMatchObject({ state: 'refused', paid: false, paid_micro_usd: 0, error: sentence })
  })
  expect((await world.decide(request.id, { approve: true })).json.code).toBe('intent/decided')
}

const table = Object.entries(leaseHolders).flatMap(([holder, principals]) =>
  principals.map((principal) => ({ holder: holder as LeaseHolder, cell: `${principal} × ${holder}` as Cell })),
)

async function expectEndedWith(holder: LeaseHolder, begin: () => Promise<Begun>): Promise<void> {
  const before = world.agent.principals.count()[holder] ?? 0
  const { end, expectEnded } = await begin()
  expect(world.agent.principals.count()[holder]).toBeGreaterThan(before)
  await end()
  await expectEnded()
  await eventually(() => expect(world.agent.principals.count()[holder] ?? 0).toBeLessThanOrEqual(before))
  for (const { id } of (await world.send('/local/intents?state=waiting')).json.intents) {
    await world.decide(id, { approve: false })
  }
}

describe('ends with its principal:', () => {
  test.each(table)('$cell', async ({ cell, holder }) => {
    const begin = cells[cell]
    if (!begin) throw new Error(`${cell} has no case in this file.`)
    await expectEndedWith(holder, begin)
  })

  test('has a case for every table row', () => {
    expect(Object.keys(cells).sort()).toEqual(table.map(({ cell }) => cell).sort())
  })
})

test.each(Object.entries(programCases))('ends with a sign-in that signs out: %s', async (holder, begin) => {
  await expectEndedWith(holder as LeaseHolder, () => begin(signedOut))
})
