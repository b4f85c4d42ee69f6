import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventually, until } from '../support/assertions/eventually.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { plainUsage } from '../support/models/scriptedAnswer.ts'
import { createPayingAgent, type PayingAgent } from '../support/processes/payingAgent.ts'
import type { Json } from '../support/processes/runningService.ts'

/**
 * One task across agent and service: a prompt, the actions of the model, their cost and the payer. It can be found from
 * each of them.
 */
let providers: ProviderServer
let paying: PayingAgent

beforeAll(async () => {
  providers = await createProviderServer()
  paying = await createPayingAgent({ inference: createInferenceOptions(providers) })
})
afterAll(async () => {
  await paying?.close()
  await providers?.close()
})
beforeEach(() => providers.clear())

const get = async (path: string): Promise<Json> => (await paying.agent.send(path)).json
const listEntries = async (task: string): Promise<Json[]> =>
  (await get(`/local/activity?order=oldest&limit=100&task=${task}`)).entries
const waitingIntent = () =>
  until(
    'a request in Approvals',
    async () => (await get('/local/intents?state=waiting')).intents[0] as Json | undefined,
  )
const decide = (id: string, approve: boolean) => paying.post(`/local/intents/${id}/decision`, { approve })

async function ask(text: string): Promise<{ conversation: string; question: string; answer: string }> {
  const chat = (await paying.post('/local/chat/conversations', { models: ['kimi-k2.5'], tools: { enabled: true } }))
    .json
  const response = await paying.post(`/local/chat/conversations/${chat.id}/messages`, { parent_id: null, text })
  expect(response.status, response.text).toBe(201)
  return { conversation: chat.id, question: response.json.user.id, answer: response.json.answers[0].id }
}
const waitForAnswer = (id: string) =>
  until('the answer', async () => (await get(`/local/chat/messages/${id}`)).message.finished_at !== null)
const calls = (name: string, args: object) => ({
  parts: [{ call: name, id: 'c1', args: JSON.stringify(args) }],
  usage: plainUsage,
})
const says = (text: string) => ({ parts: [{ text }], usage: plainUsage })

test('links a payment to its prompt and back with the total cost', async () => {
  providers.play(calls('credits_topup', { amount_usd: 5 }), says('Done.'))
  const { conversation, question, answer } = await ask('Buy some credits')
  // Approved by a separate action of the user, and still part of the turn.
  await decide((await waitingIntent()).id, true)
  await waitForAnswer(answer)
  const task = `chat:${question}`
  await eventually(async () => {
    const kinds = (await listEntries(task)).map(({ kind }) => kind)
    expect(kinds).toEqual(
      expect.arrayContaining([
        ...['chat.asked', 'intent.asked', 'intent.approved', 'intent.signed', 'payment.settled'],
        ...['credits.bought', 'chat.answered'],
      ]),
    )
    expect(kinds[0]).toBe('chat.asked')
  })
  const entries = await listEntries(task)
  for (const { kind, links, problem } of entries) {
    expect(problem).toBeNull()
    if (kind !== 'credits.bought') expect(links.conversation, kind).toBe(conversation)
  }
  const links = entries.find(({ kind }) => kind === 'payment.settled')?.links
  expect(links).toMatchObject({ conversation, message: question, payment: expect.stringMatching(/^pay_/) })
  const { entries: ofPayment } = await get(`/local/activity?link=payment:${links.payment}`)
  expect(new Set(ofPayment.map((it: Json) => it.task))).toEqual(new Set([task]))

  const sums = await get(`/local/activity/tasks/${task}`)
  const { message } = await get(`/local/chat/messages/${answer}`)
  expect(sums).toMatchObject({
    entries: entries.length,
    paid_micro_usdc: 0,
    paid_test_micro_usdc: 5_000_000,
    cost_micro_usd: message.usage.cost_micro_usd,
    links: { conversation, message: question, payment: links.payment },
  })
  expect(await get('/local/activity/verify')).toMatchObject({ ok: true, problems: [] })
})

test('a denied request remains part of the turn that submitted it', async () => {
  paying.setPolicy([])
  const domain = 'task-denied.com'
  const { payment } = (await paying.post('/local/payments/domains/register', { domain })).json
  await paying.approve(payment)
  expect((await paying.payment(payment.id, 20_000)).state).toBe('settled')
  const nameservers = ['ns1.example.net', 'ns2.example.net']
  providers.play(calls('domain_nameservers', { domain, nameservers }), says('Then not.'))
  const { question, answer } = await ask('Move it')
  await decide((await waitingIntent()).id, false)
  await waitForAnswer(answer)
  await eventually(async () =>
    expect((await listEntries(`chat:${question}`)).map(({ kind }) => kind)).toEqual([
      ...['chat.asked', 'intent.asked', 'intent.denied', 'chat.answered'],
    ]),
  )
})

test('concurrent turns remain separate', async () => {
  const turns = await Promise.all(
    ['One', 'Two'].map(async (text) => {
      providers.play(says(text))
      return ask(text)
    }),
  )
  for (const { question, answer, conversation } of turns) {
    await waitForAnswer(answer)
    await eventually(async () => {
      const entries = await listEntries(`chat:${question}`)
      expect(entries.map(({ kind }) => kind)).toEqual(['chat.asked', 'chat.answered'])
      expect(new Set(entries.map(({ links }) => links.conversation))).toEqual(new Set([conversation]))
    })
  }
})

test('a purchase by the user in the window is one task', async () => {
  const bought = await paying.post('/local/payments/topup', { amount_usd: 5 })
  expect(bought.status, bought.text).toBeLessThan(300)
  const { payment } = bought.json
  await paying.approve(payment)
  await eventually(async () => {
    const { entries } = await get(`/local/activity?order=oldest&link=payment:${payment.id}`)
    expect(entries.map(({ kind }: Json) => kind)).toContain('payment.settled')
    expect(entries[0].task).toMatch(/^action:/)
    expect((await get(`/local/activity/tasks/${entries[0].task}`)).paid_test_micro_usdc).toBe(5_000_000)
  })
})

test('lists turns of chats newest first with their start and end', async () => {
  const turns: { question: string }[] = []
  for (const text of ['First of the list', 'Second of the list']) {
    providers.play(says(text))
    const turn = await ask(text)
    await waitForAnswer(turn.answer)
    turns.unshift(turn)
  }
  const ids = turns.map(({ question }) => `chat:${question}`)
  await eventually(async () => {
    const { tasks, has_more } = await get('/local/activity/tasks?limit=2')
    expect(tasks.map(({ task }: Json) => task)).toEqual(ids)
    expect(has_more).toBe(true)
    expect(tasks[0]).toMatchObject({ entries: 2, actor: { kind: 'person' }, title: 'Second of the list' })
    expect(tasks[0].cost_micro_usd).toBeGreaterThan(0)
  })
  const { tasks } = await get('/local/activity/tasks?limit=1')
  const older = await get(`/local/activity/tasks?limit=1&before=${tasks[0].last_sequence}`)
  expect(older.tasks.map(({ task }: Json) => task)).toEqual([ids[1]])
  // The user's actions in the window are in the timeline, but not in this list of tasks.
  const all: Json[] = (await get('/local/activity/tasks?limit=100')).tasks
  expect(all.every(({ task }) => /^(chat|call):/.test(task))).toBe(true)
})
