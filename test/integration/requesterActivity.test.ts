import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, until } from '../support/assertions/eventually.ts'
import { createMcpClient, toolClient } from '../support/clients/mcpClients.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { plainUsage } from '../support/models/scriptedAnswer.ts'
import { createPayingAgent, type PayingAgent } from '../support/processes/payingAgent.ts'
import { exchange, type Json } from '../support/processes/runningService.ts'

/**
 * Actions of agents, chats and programs are recorded under their own names. Only decisions are recorded as the user's.
 */
let providers: ProviderServer
let paying: PayingAgent

beforeAll(async () => {
  providers = await createProviderServer()
  paying = await createPayingAgent({ inference: createInferenceOptions(providers), host: 'own' })
  await eventually(() => expect(paying.agent.connection().state).toBe('connected'))
})
afterAll(async () => {
  await paying?.close()
  await providers?.close()
})

const get = async (path: string): Promise<Json> => (await paying.agent.send(path)).json
const listEntries = async (kinds: string): Promise<Json[]> =>
  (await get(`/local/activity?kinds=${kinds}&limit=500`)).entries
const decisions = ['intent.approved', 'intent.denied', 'grant.added', 'chat.asked']

/** Asserts that in tasks of agents, chats and programs, only decisions are recorded as the user's. */
async function assertNoneByPerson(): Promise<void> {
  const { entries } = await get('/local/activity?actor=person&limit=500')
  const foreign = entries.filter(
    ({ task, kind }: Json) => /^(call|chat):/.test(task ?? '') && !decisions.includes(kind),
  )
  expect(foreign.map(({ summary }: Json) => summary)).toEqual([])
  expect(await get('/local/activity/verify')).toMatchObject({ ok: true, problems: [] })
}
const approveNext = async (): Promise<void> => {
  const intent = await until(
    'a request in Approvals',
    async () => (await get('/local/intents?state=waiting')).intents[0] as Json | undefined,
  )
  await paying.post(`/local/intents/${intent.id}/decision`, { approve: true })
}
const sandboxActivity = async (id: string): Promise<Json[]> =>
  (await paying.service.send(`/v1/sandboxes/${id}/activity`)).json.activities

test('records actions of a coding agent over MCP under its name', async () => {
  const { account_id: accountId } = (await paying.service.send('/v1/activity?limit=1')).json
  seedDomain(paying.service.dataDir, { accountId, name: 'by-agent.com' })
  const { client, call } = await createMcpClient({
    url: `${paying.agent.origin}/mcp`,
    key: (await toolClient(paying.agent, { name: 'claude-code' })).key,
  })
  const { id } = (await call('sandbox_create', { name: 'made-by-mcp' })).result
  await call('sandbox_exec', { sandbox_id: id, command: 'echo done' })
  await call('sandbox_write_file', { sandbox_id: id, path: '/root/a.txt', content: 'a' })
  const added = await call('domain_dns_add', { domain: 'by-agent.com', type: 'TXT', host: 'agent', value: 'x' })
  expect(added.isError, added.text).toBe(false)
  const deleting = call('sandbox_delete', { sandbox_id: id })
  await eventually(async () => expect((await get('/local/intents?state=waiting')).intents).toHaveLength(1))
  const activity = await sandboxActivity(id)
  await approveNext()
  await deleting
  await client.close()
  for (const kind of ['sandbox.created', 'command.run', 'file.written', 'dns.changed', 'sandbox.deleted']) {
    await eventually(async () => {
      const [entry] = await listEntries(kind)
      expect(entry, kind).toMatchObject({ actor: { kind: 'tool', name: 'claude-code' } })
      expect(entry.summary, kind).toMatch(/^claude-code /)
    })
  }
  expect(activity.map(({ by }) => by)).toEqual(
    activity.map(() => ({ kind: 'agent', name: 'claude-code', via: 'owner' })),
  )
  await assertNoneByPerson()
})

test('records tool calls of a chat under its name', async () => {
  const call = { call: 'sandbox_create', id: 'c1', args: JSON.stringify({ name: 'built-by-chat' }) }
  providers.play({ parts: [call], usage: plainUsage }, { parts: [{ text: 'Done.' }], usage: plainUsage })
  const chat = (
    await paying.post('/local/chat/conversations', {
      ...{ models: ['kimi-k2.5'], title: 'Build me a page', tools: { enabled: true } },
    })
  ).json
  const response = await paying.post(`/local/chat/conversations/${chat.id}/messages`, {
    parent_id: null,
    text: 'Build',
  })
  await until('the answer', async () => {
    const { message } = await get(`/local/chat/messages/${response.json.answers[0].id}`)
    return message.finished_at !== null
  })
  await eventually(async () => {
    const [entry] = await listEntries('sandbox.created')
    expect(entry).toMatchObject({
      actor: { kind: 'tool', name: expect.stringMatching(/^Chat “.+”$/) },
      summary: expect.stringMatching(/^Chat “.+” created built-by-chat\.$/),
      task: `chat:${response.json.user.id}`,
    })
  })
  await assertNoneByPerson()
})

test('records purchases of a program over the local API under its name', async () => {
  paying.setPolicy([])
  const { key } = (await paying.service.send('/v1/auth/api-keys', { body: { name: 'buyer' } })).json
  const bought = await exchange(paying.agent.origin, '/local/payments/domains/register', {
    body: { domain: 'by-program.com', years: 1 },
    headers: { authorization: `Bearer ${key}` },
  })
  expect(bought.status, bought.text).toBeLessThan(300)
  await approveNext()
  await eventually(async () => {
    const [entry] = await listEntries('name.registered')
    expect(entry).toMatchObject({
      actor: { kind: 'client', name: 'buyer' },
      summary: expect.stringMatching(/^buyer registered by-program\.com/),
    })
  })
  await assertNoneByPerson()
})

test('records model costs of agents and keys and links them to their calls', async () => {
  const answer = { parts: [{ text: 'Hello.' }], usage: plainUsage }
  providers.play(answer, answer)
  const { client, call } = await createMcpClient({
    url: `${paying.agent.origin}/mcp`,
    key: (await toolClient(paying.agent, { name: 'spender' })).key,
  })
  const question = { model: 'kimi-k2.5', messages: [{ role: 'user', content: 'Hello' }] }
  const result = await call('chat_completions', question)
  expect(result.isError, result.text).toBe(false)
  await client.close()
  await eventually(async () => {
    const [entry] = await listEntries('models')
    expect(entry).toMatchObject({
      actor: { kind: 'tool', name: 'spender' },
      summary: expect.stringMatching(/^spender used kimi-k2\.5 · \$0\.\d+\.$/),
      task: expect.stringMatching(/^call:/),
    })
    const sums = await get(`/local/activity/tasks/${entry.task}`)
    expect(sums).toMatchObject({ cost_micro_usd: result.result.cost_micro_usd, charged_micro_usd: 0 })
  })

  const { key } = (await paying.service.send('/v1/auth/api-keys', { body: { name: 'codex' } })).json
  const completed = await exchange(paying.agent.origin, '/v1/chat/completions', {
    body: question,
    headers: { authorization: `Bearer ${key}` },
  })
  expect(completed.status, completed.text).toBe(200)
  await eventually(async () =>
    expect((await listEntries('models'))[0]).toMatchObject({
      actor: { kind: 'client', name: 'codex' },
      summary: expect.stringMatching(/^codex used kimi-k2\.5 · \$0\.\d+\.$/),
    }),
  )
})

test('an API key of a program cannot act under another name', async () => {
  const { key } = (await paying.service.send('/v1/auth/api-keys', { body: { name: 'honest' } })).json
  const forged = { 'x-steward-requester': 'agent;claude-code', 'x-steward-task': 'call:forged' }
  for (const origin of [paying.service.url, paying.agent.origin]) {
    const created = await exchange(origin, '/v1/sandboxes', {
      body: { name: 'forged' },
      headers: { authorization: `Bearer ${key}`, ...forged },
    })
    expect(created.status, created.text).toBe(201)
    expect(new Set((await sandboxActivity(created.json.id)).map(({ by }) => by.name))).toEqual(new Set(['honest']))
  }
  // A page in the window has the user's session, and cannot impersonate a requester either.
  const created = await paying.agent.send('/v1/sandboxes', { body: { name: 'window' }, headers: forged })
  expect(new Set((await sandboxActivity(created.json.id)).map(({ by }) => by.kind))).toEqual(new Set(['owner']))
})
