import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { createFakeRuntime } from '../support/fakes/fakeRuntime.ts'
import { orphanSandboxes } from '../support/fixtures/orphanSandboxes.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { plainUsage } from '../support/models/scriptedAnswer.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { type Answer, runningService, type TestService } from '../support/processes/runningService.ts'

/**
 * Removes resources of a real service and reads the state of each stored reference to them, locally and at the service.
 */
let providers: ProviderServer
let service: TestService
let agent: RunningAgent
let agentFolder: string
let nowMs: number
const now = () => nowMs

beforeAll(async () => {
  nowMs = Date.now()
  providers = await createProviderServer()
  service = await runningService({
    ...{ now, runtimeOf: createFakeRuntime, runtimes: ['local'], inference: createInferenceOptions(providers) },
    payments: { facilitator: { kind: 'test-ledger' } },
  })
})
afterAll(async () => {
  await service?.close()
  await providers?.close()
})
const startAgent = async (): Promise<void> => {
  agent = await createRunningAgent({ dataFolder: agentFolder, target: target(), now })
}
const target = () => ({ url: service.url, key: service.key, certificate: undefined })
beforeEach(async () => {
  providers.clear()
  agentFolder = temporaryFolder('removed-things')
  await startAgent()
  await eventually(() => expect(agent.connection().state).toBe('connected'))
})
afterEach(() => agent?.close())

let names = 0
const newName = () => `thing-${++names}`
const newSandbox = async (name = newName()): Promise<{ id: string; name: string }> => {
  const { status, json, text } = await service.send('/v1/sandboxes', { body: { name } })
  expect(status, text).toBe(201)
  return json
}
const remove = (path: string): Promise<Answer> => service.send(path, { method: 'DELETE' })
const removeSandbox = async ({ id }: { id: string }) =>
  expect((await remove(`/v1/sandboxes/${id}`)).json.success).toBe(true)
const newChat = async (sandboxId: string): Promise<string> => {
  const body = { models: ['kimi-k2.5'], tools: { enabled: true, sandbox_id: sandboxId } }
  const { status, json, text } = await agent.send('/local/chat/conversations', { body })
  expect(status, text).toBe(201)
  return json.id
}
const chat = async (id: string): Promise<Answer['json']> => (await agent.send(`/local/chat/conversations/${id}`)).json
const newToolServer = async (sandboxId: string): Promise<string> => {
  const transport = { kind: 'sandbox', sandbox_id: sandboxId, command: 'cat' }
  const { status, json, text } = await agent.send('/local/tool-servers', {
    body: { name: newName(), place: transport },
  })
  expect(status, text).toBe(201)
  await agent.send(`/local/tool-servers/${json.id}`, { method: 'PATCH', body: { enabled: true } })
  return json.id
}
const toolServer = async (id: string): Promise<Answer['json']> =>
  (await agent.send('/local/tool-servers')).json.servers.find((server: { id: string }) => server.id === id)
const newDomain = async (): Promise<string> => {
  const name = `${newName()}.com`
  const { id: accountId } = (await service.send('/v1/auth/me')).json
  seedDomain(service.dataDir, { accountId, name })
  return name
}
const inAgent = (sql: string): unknown[] => {
  const database = openDatabase(join(agentFolder, 'agent.sqlite'))
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}
const listRemoved = async (): Promise<Answer['json'][]> => (await service.send('/v1/removed-things')).json.things
const summaries = async (): Promise<string[]> =>
  (await agent.send('/local/activity?limit=50')).json.entries.map(({ summary }: { summary: string }) => summary)

describe('a deleted sandbox', () => {
  test('is detached from its chats and no longer offered to models', async () => {
    const sandbox = await newSandbox()
    const id = await newChat(sandbox.id)
    await removeSandbox(sandbox)
    await eventually(async () => expect((await chat(id)).tools.sandbox_id).toBeNull())
    expect((await chat(id)).notice).toBe(
      `The sandbox “${sandbox.name}” was deleted. This chat no longer works in a sandbox.`,
    )
    providers.play({ parts: [{ text: 'Hello' }], usage: plainUsage })
    const body = { parent_id: null, text: 'Go on' }
    const response = await agent.send(`/local/chat/conversations/${id}/messages`, { body })
    expect(response.status, response.text).toBe(201)
    await eventually(() => expect(providers.requests.length).toBe(1))
    expect(JSON.stringify(providers.requests[0]?.body)).not.toContain(sandbox.id)

    await agent.send(`/local/chat/conversations/${id}`, { method: 'PATCH', body: { notice: null } })
    expect((await chat(id)).notice).toBeNull()
  })

  test('disables its tool server immediately and records the reason', async () => {
    const sandbox = await newSandbox()
    const id = await newToolServer(sandbox.id)
    expect((await toolServer(id)).enabled).toBe(true)
    await removeSandbox(sandbox)
    await eventually(async () => expect((await toolServer(id)).enabled).toBe(false))
    expect((await toolServer(id)).fault).toBe(
      `Its sandbox “${sandbox.name}” was deleted. Remove this server, or add it again in another sandbox.`,
    )
    const summary = `The tool server “${(await toolServer(id)).name}” was turned off: its sandbox “${sandbox.name}” was deleted.`
    expect(await summaries()).toContain(summary)
  })

  test('is detected at the next connection through the outbox', async () => {
    const sandbox = await newSandbox()
    const [chatId, serverId] = [await newChat(sandbox.id), await newToolServer(sandbox.id)]
    await agent.close()
    await removeSandbox(sandbox)
    expect(await listRemoved()).toContainEqual(
      expect.objectContaining({ kind: 'sandbox', id: sandbox.id, name: sandbox.name }),
    )
    await startAgent()
    await eventually(async () => expect((await chat(chatId)).tools.sandbox_id).toBeNull())
    expect((await chat(chatId)).notice).toContain(`“${sandbox.name}”`)
    await eventually(async () => expect((await toolServer(serverId)).enabled).toBe(false))
  })

  test('is detected by comparison if the outbox no longer lists it', async () => {
    const sandbox = await newSandbox()
    const chatId = await newChat(sandbox.id)
    await eventually(() => expect(inAgent('SELECT thing FROM known_things')).toContainEqual({ thing: sandbox.id }))
    await agent.close()
    await removeSandbox(sandbox)
    const database = openDatabase(join(service.dataDir, 'service.sqlite'))
    database.prepare('DELETE FROM removed_things').run()
    database.close()
    await startAgent()
    await eventually(async () => expect((await chat(chatId)).tools.sandbox_id).toBeNull())
    expect((await chat(chatId)).notice).toContain(`“${sandbox.name}”`)
  })

  test('in another account changes nothing in this one', async () => {
    const sandbox = await newSandbox()
    const chatId = await newChat(sandbox.id)
    const otherService = await runningService({ runtimeOf: createFakeRuntime, runtimes: ['local'] })
    try {
      agent.connect({ url: otherService.url, key: otherService.key, certificate: undefined })
      const accountId = (await otherService.send('/v1/auth/me')).json.id
      const listCompared = () => inAgent('SELECT account_id FROM compared_accounts')
      await eventually(() => expect(listCompared()).toContainEqual({ account_id: accountId }))
      expect((await chat(chatId)).tools.sandbox_id).toBe(sandbox.id)
    } finally {
      agent.connect(target())
      await otherService.close()
    }
  })

  test('removes links to its terminals when it stops', async () => {
    const sandbox = await newSandbox()
    const link = await service.send(`/v1/sandboxes/${sandbox.id}/terminal-session`, { body: {} })
    expect(link.status, link.text).toBe(201)
    const terminals = () => service.send(`/v1/sandboxes/${sandbox.id}/pty`, { key: link.json.token })
    expect((await terminals()).status).toBe(200)
    await service.send(`/v1/sandboxes/${sandbox.id}/stop`, { body: {} })
    await service.send(`/v1/sandboxes/${sandbox.id}/start`, { body: {} })
    expect((await terminals()).status).toBe(401)
    await removeSandbox(sandbox)
  })

  test('leaves DNS records that its domain lists and one request removes', async () => {
    const sandbox = await newSandbox()
    const domain = await newDomain()
    await service.send(`/v1/sandboxes/${sandbox.id}/ports/expose`, { body: { port: 8000 } })
    const led = await service.send(`/v1/sandboxes/${sandbox.id}/domains`, { body: { domain, port: 8000 } })
    expect(led.json.verified, led.text).toBe(true)
    const record = { type: 'A', host: '@', value: '127.0.0.1', ttl: 3600 }
    await service.send(`/v1/domains/${domain}/dns`, { body: record })
    await service.send(`/v1/domains/${domain}/dns`, { body: { ...record, host: 'www', value: '192.0.2.7' } })
    await removeSandbox(sandbox)

    const orphan = { name: domain, sandbox_id: sandbox.id, sandbox_name: sandbox.name }
    expect((await service.send(`/v1/domains/${domain}`)).json.orphaned_names).toEqual([orphan])
    const listed = (await service.send(`/v1/domains/${domain}/orphaned-records`)).json
    expect(listed.records).toEqual([expect.objectContaining(record)])
    const activity = (await service.send('/v1/activity?limit=500')).json.activities
    expect(activity).toContainEqual(
      expect.objectContaining({
        ...{ type: 'dns.changed', domain },
        description: `Left DNS records of ${domain} that point to the deleted sandbox ${sandbox.name}`,
      }),
    )
    const response = await remove(`/v1/domains/${domain}/orphaned-records`)
    expect(response.json.removed).toEqual([expect.objectContaining(record)])
    const { records } = (await service.send(`/v1/domains/${domain}/dns`)).json
    expect(records).toEqual([expect.objectContaining({ host: 'www', value: '192.0.2.7' })])
    expect((await service.send(`/v1/domains/${domain}`)).json.orphaned_names).toEqual([])
  })

  test('is no longer reported as orphaned once its records are removed manually', async () => {
    const sandbox = await newSandbox()
    const domain = await newDomain()
    await service.send(`/v1/sandboxes/${sandbox.id}/domains`, { body: { domain } })
    await removeSandbox(sandbox)
    expect((await service.send(`/v1/domains/${domain}`)).json.orphaned_names).toHaveLength(1)
    expect((await service.send(`/v1/domains/${domain}/orphaned-records`)).json).toEqual({ names: [], records: [] })
    expect((await service.send(`/v1/domains/${domain}`)).json.orphaned_names).toEqual([])
  })
})

test('a domain loses verification when its port closes and regains it when exposed', async () => {
  const sandbox = await newSandbox()
  const domain = await newDomain()
  const path = `/v1/sandboxes/${sandbox.id}`
  await service.send(`${path}/ports/expose`, { body: { port: 8000 } })
  await service.send(`${path}/domains`, { body: { domain, port: 8000 } })
  const isVerified = async () => (await service.send(`${path}/domains`)).json.domains[0].verified
  expect(await isVerified()).toBe(true)
  await remove(`${path}/ports/8000`)
  expect(await isVerified()).toBe(false)
  await service.send(`${path}/ports/expose`, { body: { port: 8000 } })
  expect(await isVerified()).toBe(true)
  await removeSandbox(sandbox)
})

describe('a domain that left the account', () => {
  const leaveDomain = async (domain: string): Promise<void> => {
    const database = openDatabase(join(service.dataDir, 'service.sqlite'))
    database.prepare('DELETE FROM registry_domains WHERE name = ?').run(domain)
    database.close()
    nowMs += 6 * 60_000 // the data read earlier is now stale
    await service.send(`/v1/domains/${domain}`)
    await eventually(async () => expect((await service.send(`/v1/domains/${domain}`)).json.left_at).not.toBeNull())
  }

  test('does not route to sandboxes without proof of ownership', async () => {
    const [sandbox, domain] = [await newSandbox(), await newDomain()]
    await leaveDomain(domain)
    const { json } = await service.send(`/v1/sandboxes/${sandbox.id}/domains`, { body: { domain: `app.${domain}` } })
    expect(json.verified).toBe(false)
    expect(json.verification.type).toBe('TXT')
    expect(await listRemoved()).toContainEqual(expect.objectContaining({ kind: 'domain', id: domain }))
    await removeSandbox(sandbox)
  })

  test('denies a waiting chat request to change it', async () => {
    const domain = await newDomain()
    const args = JSON.stringify({ domain, enabled: false })
    providers.play(
      { parts: [{ call: 'domain_privacy', id: 'c1', args }], usage: plainUsage },
      { parts: [{ text: 'Then not.' }], usage: plainUsage },
    )
    const body = { models: ['kimi-k2.5'], tools: { enabled: true } }
    const { id } = (await agent.send('/local/chat/conversations', { body })).json
    await agent.send(`/local/chat/conversations/${id}/messages`, { body: { parent_id: null, text: 'Publish it' } })
    const requests = async (state: string) => (await agent.send(`/local/intents?state=${state}`)).json.intents
    await eventually(async () => expect(await requests('waiting')).toHaveLength(1))
    const [{ id: intentId }] = await requests('waiting')
    await leaveDomain(domain)
    await eventually(async () => expect(await requests('waiting')).toEqual([]))
    const error = `${domain} is no longer in this account.`
    expect((await agent.send(`/local/intents/${intentId}`)).json).toMatchObject({
      state: 'denied',
      result: null,
      error,
    })
  })

  test('revokes remembered approvals to change it', async () => {
    const [domain, otherDomain] = [await newDomain(), await newDomain()]
    const body = { models: ['kimi-k2.5'], tools: { enabled: true } }
    const { id } = (await agent.send('/local/chat/conversations', { body })).json
    const waiting = () =>
      until('the request', async () => (await agent.send('/local/intents?state=waiting')).json.intents[0])
    for (const name of [domain, otherDomain]) {
      providers.play(
        {
          parts: [{ call: 'domain_privacy', id: 'c1', args: JSON.stringify({ domain: name, enabled: false }) }],
          usage: plainUsage,
        },
        { parts: [{ text: 'Done.' }], usage: plainUsage },
      )
      const message = { parent_id: null, text: 'Publish it' }
      await agent.send(`/local/chat/conversations/${id}/messages`, { body: message })
      const decision = { approve: true, grant: { times: 5 } }
      await agent.send(`/local/intents/${(await waiting()).id}/decision`, { body: decision })
    }
    const listScopes = async () =>
      (await agent.send('/local/grants')).json.grants.map(({ scope }: { scope: string }) => scope).sort()
    expect(await listScopes()).toEqual([`domain_privacy ${domain}`, `domain_privacy ${otherDomain}`].sort())
    await leaveDomain(domain)
    await eventually(async () => expect(await listScopes()).toEqual([`domain_privacy ${otherDomain}`]))
  })

  test('is reported missing by its auto-renewal, which the user can turn off', async () => {
    const domain = await newDomain()
    const database = openDatabase(join(agentFolder, 'agent.sqlite'))
    const serviceKey = `embedded ${(await service.send('/v1/auth/me')).json.id}`
    await agent.send('/local/domains')
    database.prepare('INSERT INTO domain_renewals VALUES (?, ?, 1, 30, 1, 20000000)').run(serviceKey, domain)
    database.close()
    const renewals = async () => (await agent.send('/local/domains/renewals')).json
    await leaveDomain(domain)
    await eventually(async () => expect((await renewals()).missing).toEqual([domain]))
    const sentence = `Auto-renew is on for ${domain}, but the domain is not in your account.`
    await eventually(async () => expect(await summaries()).toContain(sentence))
    const off = await agent.send(`/local/domains/${domain}/renewal`, { method: 'DELETE' })
    expect(off.json).toEqual({ success: true, domain })
    expect((await renewals()).missing).toEqual([])
  })
})

test('a chat reports an unavailable model and preserves its model choice', async () => {
  const body = { models: ['gone-model'] }
  const { id } = (await agent.send('/local/chat/conversations', { body })).json
  const response = await agent.send(`/local/chat/conversations/${id}/messages`, {
    body: { parent_id: null, text: 'Hi' },
  })
  expect(response.status).toBe(409)
  expect(response.json).toMatchObject({ code: 'chat/model', error: 'Unknown chat model "gone-model".' })
  expect((await chat(id)).models).toEqual(['gone-model'])
})

test('a deleted sandbox has no meter after the next start', async () => {
  const [sandbox, removedSandbox] = [await newSandbox(), await newSandbox()]
  await removeSandbox(removedSandbox)
  await service.restart(() => {
    const database = openDatabase(join(service.dataDir, 'service.sqlite'))
    const meter = database.prepare('INSERT INTO sandbox_meters (sandbox_id, until_ms) VALUES (?, 1)')
    for (const { id } of [sandbox, removedSandbox]) meter.run(id)
    database.close()
  })
  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  expect(database.prepare('SELECT sandbox_id FROM sandbox_meters').all()).toEqual([{ sandbox_id: sandbox.id }])
  database.close()
  await removeSandbox(sandbox)
})

describe('a found sandbox', () => {
  test('is adopted or deleted but never both under concurrent requests', async () => {
    for (let round = 0; round < 6; round += 1) {
      const { id } = await newSandbox()
      await service.send(`/v1/sandboxes/${id}/stop`, { body: {} })
      orphanSandboxes(service.dataDir, [id])
      const adopt = () => service.send(`/v1/found-sandboxes/${id}/adopt`, { method: 'POST' })
      const drop = () => remove(`/v1/found-sandboxes/${id}`)
      const [first, second] = await Promise.all(round % 2 === 0 ? [adopt(), drop()] : [drop(), adopt()])
      expect([first.status, second.status].sort()).toEqual([200, 404])
      const isAdopted = (round % 2 === 0 ? first : second).status === 200
      const started = await service.send(`/v1/sandboxes/${id}/start`, { body: {} })
      expect(started.status, started.text).toBe(isAdopted ? 200 : 404)
      if (isAdopted) await removeSandbox({ id })
    }
  })

  test('is not counted as removed', async () => {
    const sandbox = await newSandbox()
    const chatId = await newChat(sandbox.id)
    await eventually(() => expect(inAgent('SELECT thing FROM known_things')).toContainEqual({ thing: sandbox.id }))
    orphanSandboxes(service.dataDir, [sandbox.id])
    const database = openDatabase(join(service.dataDir, 'service.sqlite'))
    database.prepare('DELETE FROM removed_things').run() // a database restored from a backup has no such entry
    database.close()
    const comparisons = () => inAgent('SELECT comparison FROM compared_accounts')
    const before = comparisons()
    agent.connect(target())
    await eventually(() => expect(comparisons()).not.toEqual(before))
    expect((await chat(chatId)).tools.sandbox_id).toBe(sandbox.id)
    await service.send(`/v1/found-sandboxes/${sandbox.id}/adopt`, { method: 'POST' })
    await removeSandbox(sandbox)
    await eventually(async () => expect((await chat(chatId)).tools.sandbox_id).toBeNull())
  })
})

test('terminals reappear after a host start during which their sandbox files were missing', async () => {
  let isAway = false
  const restoredService = await runningService({
    runtimes: ['local'],
    runtimeOf: ({ folder }) => createFakeRuntime({ folder: isAway ? `${folder}-away` : folder }),
  })
  try {
    const { id } = (await restoredService.send('/v1/sandboxes', { body: { name: 'away' } })).json
    const { session_id: terminal } = (
      await restoredService.send(`/v1/sandboxes/${id}/pty`, { body: { command: 'echo history' } })
    ).json
    const read = async () => (await restoredService.send(`/v1/sandboxes/${id}/pty/${terminal}/read?full=true`)).json
    await eventually(async () => expect((await read()).state).toBe('exited'))
    for (isAway of [true, false]) {
      await restoredService.endHost()
      // served by the next host
      await eventually(async () => expect((await restoredService.send('/v1/found-sandboxes')).status).toBe(200))
    }
    expect((await read()).output).toContain('history')
  } finally {
    await restoredService.close()
  }
})
