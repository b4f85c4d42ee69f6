import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createJsonLog } from '#platform/logging/log.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { createMcpClient, type McpClient, toolClient } from '../support/clients/mcpClients.ts'
import { hostileSeller } from '../support/fakes/hostileSeller.ts'
import { createHostileToolServer, type HostileToolServer, plainTool } from '../support/fakes/hostileToolServer.ts'
import { rule, withRules } from '../support/fixtures/approvals.ts'
import { embedInText, type SecretText, secretKinds } from '../support/fixtures/secretKinds.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { plainUsage } from '../support/models/scriptedAnswer.ts'
import { createPayingAgent, type PayingAgent } from '../support/processes/payingAgent.ts'
import type { Answer, Json } from '../support/processes/runningService.ts'

/** Secrets of every kind are planted in every source of Activity entries. Then all of Activity is searched for them. */
let providers: ProviderServer
let server: HostileToolServer
let paying: PayingAgent
let tools: McpClient
let sandboxId: string
const logged: string[] = []

type Planted = SecretText & { where: string; isStoredElsewhere: boolean }
const planted: Planted[] = []

beforeAll(async () => {
  providers = await createProviderServer()
  server = await createHostileToolServer()
  const log = createJsonLog({ write: (line) => logged.push(line), now: Date.now, level: 'debug' })
  paying = await createPayingAgent({ host: 'own', inference: createInferenceOptions(providers), log })
  paying.setPolicy([])
  seedDomain(paying.service.dataDir, {
    accountId: (await paying.service.send('/v1/auth/me')).json.id,
    name: 'atlas.com',
  })
  tools = await clientNamed('researcher')
  sandboxId = (await tools.call('sandbox_create', { name: 'atlas' })).result.id
})
afterAll(async () => {
  await tools?.client.close()
  await paying?.close()
  await server?.close()
  await providers?.close()
})

const policy = { changes: 'allow', destroys: 'allow' }
async function clientNamed(name: string, settings: object = { policy }): Promise<McpClient> {
  const { key } = await toolClient(paying.agent, { name, ...settings })
  return createMcpClient({ url: `${paying.agent.origin}/mcp`, key })
}

/**
 * Creates new secrets for one source.
 * @param isStoredElsewhere whether another part of the agent stores them unchanged: a chat its messages, Approvals the
 * pending requests, a client its name
 */
function plant(source: string, { isStoredElsewhere = false, fits = /^[\s\S]*$/ } = {}): string[] {
  const secrets = secretKinds()
    .map((secret, index) => (index % 3 === 0 ? { ...secret, text: embedInText(secret) } : secret))
    .filter(({ text }) => fits.test(text))
  expect(secrets.length, source).toBeGreaterThan(5)
  planted.push(...secrets.map((it) => ({ ...it, where: source, isStoredElsewhere })))
  return secrets.map(({ text }) => text)
}
const get = async (path: string): Promise<Json> => (await paying.agent.send(path)).json
const expectSuccess = ({ status, text }: Answer): void =>
  expect([status < 300, text]).toEqual([true, expect.anything()])
const says = (text: string) => ({ parts: [{ text }], usage: plainUsage })
const calls = (name: string, args: object) => ({
  parts: [{ call: name, id: 'c1', args: JSON.stringify(args) }],
  usage: plainUsage,
})

/** Denies all pending requests. @returns whether there were any */
const denyAll = async (): Promise<boolean> => {
  const { intents } = await get('/local/intents?state=waiting')
  for (const { id } of intents) await paying.post(`/local/intents/${id}/decision`, { approve: false })
  return intents.length > 0
}

async function ask(text: string): Promise<void> {
  const chat = (await paying.post('/local/chat/conversations', { models: ['kimi-k2.5'], tools: { enabled: true } }))
    .json
  const response = await paying.post(`/local/chat/conversations/${chat.id}/messages`, { parent_id: null, text })
  expectSuccess(response)
  await until('the answer', async () => {
    await denyAll()
    return (await get(`/local/chat/messages/${response.json.answers[0].id}`)).message.finished_at !== null
  })
}

const shortLine = /^[^\n]{1,60}$/
const fileName = /^[^\n/]{1,100}$/

const scenarios: Record<string, () => Promise<void>> = {
  async 'the words, arguments and answers of a chat'() {
    const options = { isStoredElsewhere: true }
    for (const text of plant('a prompt', options)) {
      providers.play(says(`You said: ${text}`))
      await ask(text)
    }
    const commands = plant('arguments of a chat', options)
    for (const command of commands.slice(0, 12)) {
      providers.play(calls('sandbox_exec', { sandbox_id: sandboxId, command: `: ${command}` }), says('Done.'))
      await ask('Run it')
    }
    for (const id of plant('an approval of a chat', { ...options, fits: shortLine }).slice(0, 6)) {
      providers.play(calls('domain_dns_delete', { domain: 'atlas.com', record_id: id }), says('Done.'))
      await ask('Delete it')
    }
    for (const name of plant('a tool that does not exist', { ...options, fits: /^[\w-]{1,64}$/ }).slice(0, 4)) {
      providers.play(calls(name, {}), says('Done.'))
      await ask('Do it')
    }
  },
  async 'the error of a provider'() {
    for (const message of plant('an upstream', { isStoredElsewhere: true }).slice(0, 30)) {
      providers.play({ status: 400, body: { error: { message, type: message, code: 'invalid' } } })
      await ask('Hello')
    }
  },
  async 'commands and files'() {
    for (const text of plant('a command')) {
      await tools.call('sandbox_exec', { sandbox_id: sandboxId, command: `: ${text}`, timeout: 20 })
    }
    for (const text of plant('a long command').slice(0, 8)) {
      // Shortened in a summary, and truncated by the service.
      await tools.call('sandbox_exec', { sandbox_id: sandboxId, command: `: ${'x'.repeat(100)} ${text}` })
      await tools.call('sandbox_exec', { sandbox_id: sandboxId, command: `: ${'x'.repeat(4_065)} ${text}` })
    }
    for (const text of plant('a file', { fits: fileName })) {
      await tools.call('sandbox_write_file', { sandbox_id: sandboxId, path: `/root/${text}`, content: text })
    }
  },
  async 'terminals that are recorded'() {
    expectSuccess(
      await paying.agent.send('/local/activity/settings', { method: 'PATCH', body: { record_terminals: true } }),
    )
    for (const command of plant('a terminal', { isStoredElsewhere: true }).slice(0, 10)) {
      await tools.call('sandbox_pty_create', { sandbox_id: sandboxId, command: `echo shown; : ${command}` })
    }
    await eventually(async () => expect((await get('/local/recordings')).total).toBeGreaterThan(3))
  },
  async 'domains, payments and tools that do not exist'() {
    const options = { isStoredElsewhere: true }
    for (const value of plant('a value of DNS', { ...options, fits: /^[\x20-\x7e]{1,200}$/ }).slice(0, 25)) {
      await tools.call('domain_dns_add', { domain: 'atlas.com', type: 'TXT', host: '@', value })
      await tools.call('domain_dns_update', { domain: 'atlas.com', record_id: 'rec_1', value })
      await denyAll()
    }
    const seller = await hostileSeller((_, response) => void response.writeHead(500).end())
    paying.nameServers(new URL(seller.url).host)
    for (const text of plant('an address that costs', { ...options, fits: shortLine }).slice(0, 12)) {
      await tools.call('x402_fetch', { url: `${seller.url}/report?key=${encodeURIComponent(text)}`, body: text })
      await tools.call('x402_check', { url: `http://${encodeURIComponent(text)}:x@127.0.0.1/` })
      await denyAll()
    }
    for (const name of plant('a tool by MCP', { fits: /^[\w-]{1,128}$/ })) {
      await tools.client.callTool({ name, arguments: { [name]: name } }).catch(() => undefined)
    }
    for (const id of plant('a sandbox that does not exist', { fits: shortLine })) {
      await tools.call('sandbox_exec', { sandbox_id: id, command: 'true' })
    }
  },
  async 'names and notes'() {
    const options = { isStoredElsewhere: true, fits: shortLine }
    for (const text of plant('a note of a grant', { fits: shortLine })) {
      const me = await paying.service.send('/v1/auth/me')
      await paying.service.send('/v1/credits/grants', { body: { to_address: me.json.id, amount_cents: 1, note: text } })
    }
    for (const name of plant('the name of a key', { fits: shortLine }).slice(0, 10)) {
      const { json } = await paying.service.send('/v1/auth/api-keys', { body: { name } })
      await paying.service.send('/v1/sandboxes', { key: json?.key, body: { name: 'nobody' } })
    }
    for (const name of plant('the name of a client', options).slice(0, 8)) {
      const client = await clientNamed(name, {})
      await client.call('sandbox_list')
      await Promise.all([client.call('sandbox_delete', { sandbox_id: sandboxId }), until('a request', denyAll)])
      await client.client.close()
    }
    for (const text of plant('a text to sign', { isStoredElsewhere: true })) {
      await paying.post('/local/intents', { intent: { kind: 'message', text } })
      await denyAll()
    }
    for (const host of plant('a host of a policy', options).slice(0, 10)) {
      const rules = [rule({ host, effect: 'deny' })]
      await paying.agent.send('/local/policy', { method: 'PUT', body: withRules(rules) })
    }
  },
  async 'what a tool server says'() {
    const options = { isStoredElsewhere: true, fits: /^[A-Za-z0-9][\w-]{0,43}$/ }
    const { json } = await paying.post('/local/tool-servers', { name: 'box', place: { kind: 'http', url: server.url } })
    const names = plant('a tool of a server', options)
    server.tools = names.map((it) => plainTool(it))
    const tested = (await paying.post(`/local/tool-servers/${json.id}/test`, {})).json
    expect(tested.tools.length).toBeGreaterThan(3)
    const agreed = tested.tools.map(({ name, digest }: Json) => ({ name, digest, enabled: true, ask: false }))
    await paying.agent.send(`/local/tool-servers/${json.id}`, { method: 'PATCH', body: { enabled: true } })
    expectSuccess(
      await paying.agent.send(`/local/tool-servers/${json.id}/tools`, { method: 'PUT', body: { tools: agreed } }),
    )
    server.tools = names.map((it) => plainTool(it, 'Another one.'))
    await paying.post(`/local/tool-servers/${json.id}/test`, {})
    for (const text of plant('the fault of a tool server', { isStoredElsewhere: true }).slice(0, 10)) {
      server.intercept = (_, response) => Boolean(response.writeHead(500).end(text))
      await paying.post(`/local/tool-servers/${json.id}/test`, {})
    }
  },
}

test.each(Object.keys(scenarios))('secrets given to %s', { timeout: 240_000 }, async (name) => {
  await scenarios[name]?.()
})

test('no secret is in Activity, its search, its export or the log', { timeout: 120_000 }, async () => {
  const last = await paying.service.send('/v1/auth/api-keys', { body: { name: 'the last one' } })
  expectSuccess(last)
  await eventually(async () => {
    expect((await get('/local/activity?limit=1&search=the%20last%20one')).entries).toHaveLength(1)
  })
  expect(await get('/local/activity/verify')).toMatchObject({ ok: true, problems: [] })
  const written: [string, string][] = [
    ['the export', (await paying.agent.send('/local/activity/export?format=jsonl')).text],
    ['the export as CSV', (await paying.agent.send('/local/activity/export?format=csv')).text],
    ['the list', JSON.stringify(await allEntries())],
    ...tables(),
  ]
  const tasks = (await get('/local/activity/tasks?limit=100')).tasks.map(({ title: _, ...it }: Json) => it)
  written.push(['the tasks', JSON.stringify(tasks)])
  expect(findSecrets(planted, written)).toEqual([])

  const files = ['agent.sqlite', 'agent.sqlite-wal'].map((name): [string, string] => [
    name,
    readFileSync(join(paying.dataFolder, name), 'latin1'),
  ])
  const nowhereElse = planted.filter(({ isStoredElsewhere }) => !isStoredElsewhere)
  expect(findSecrets(nowhereElse, [...files, ['the log', logged.join('')]])).toEqual([])
  expect(findSecrets(planted, [['the log', logged.join('')]])).toEqual([])
  const kinds = [
    ...['chat.asked', 'chat.failed', 'intent.asked', 'intent.denied', 'tool.called', 'tool.refused', 'tool.failed'],
    ...['command.run', 'file.written', 'terminal.opened', 'terminal.recorded', 'credits.granted', 'key.created'],
    ...['tool-client.created', 'tool-server.tool_changed', 'dns.changed', 'policy.changed'],
  ]
  // A recording is published once it has started.
  await eventually(async () => {
    const there = (await allEntries()).map(({ kind }) => kind)
    expect(kinds.filter((kind) => !there.includes(kind))).toEqual([])
  })
})

async function allEntries(): Promise<Json[]> {
  const all: Json[] = []
  for (;;) {
    const { entries, has_more } = await get(`/local/activity?order=oldest&limit=100&after=${all.at(-1)?.sequence ?? 0}`)
    all.push(...entries)
    if (!has_more) return all
  }
}

/** Reads all tables of Activity, including its search index. */
function tables(): [string, string][] {
  const database = openDatabase(join(paying.dataFolder, 'agent.sqlite'))
  try {
    database.exec(`CREATE VIRTUAL TABLE temp.timeline_words USING fts5vocab(main, timeline_index, row)`)
    const text = (sql: string) =>
      database
        .prepare<[], object>(sql)
        .all()
        .map((row) => Object.values(row).join('\n'))
    return [
      ['the table', text('SELECT * FROM timeline').join('\n')],
      ['the links', text('SELECT * FROM timeline_links').join('\n')],
      ['the words of the search', text('SELECT term FROM timeline_words').join('\n')],
    ]
  } finally {
    database.close()
  }
}

/** Searches for the longest alphanumeric run of each secret, and for its forms in JSON. */
function findSecrets(secrets: readonly Planted[], written: readonly [string, string][]): string[] {
  const low = written.map(([where, text]): [string, string] => [where, text.toLowerCase()])
  return secrets.flatMap(({ where, kind, secret }) => {
    const runs = (secret.match(/[A-Za-z0-9]{8,}/g) ?? []).sort((a, b) => b.length - a.length)
    const forms = [secret, JSON.stringify(secret).slice(1, -1), ...(kind.startsWith('phrase') ? [] : runs.slice(0, 1))]
    return low
      .filter(([, text]) => forms.some((form) => text.includes(form.toLowerCase())))
      .map(([location]) => `${kind}, from ${where}: in ${location}`)
  })
}
