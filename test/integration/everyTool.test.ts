import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { toolTable } from '#shared/contract/tools/toolTable.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { createMcpClient, type McpAnswer, type McpClient, toolClient } from '../support/clients/mcpClients.ts'
import { hostileSeller, respond } from '../support/fakes/hostileSeller.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { createPayingAgent, type PayingAgent } from '../support/processes/payingAgent.ts'

/** Calls every tool with the official client of the protocol, which validates each result against the listed schema. */
let providers: ProviderServer
let paying: PayingAgent
let tools: McpClient

beforeAll(async () => {
  providers = await createProviderServer()
  paying = await createPayingAgent({ host: 'own', inference: createInferenceOptions(providers) })
  paying.setPolicy([])
  const { agent } = paying
  const { key } = await toolClient(agent, { policy: { changes: 'allow', destroys: 'allow' } })
  tools = await createMcpClient({ url: `${agent.origin}/mcp`, key })
})
afterAll(async () => {
  await tools?.client.close()
  await paying?.close()
  await providers?.close()
})

/** Approves all pending requests during the test. */
function allowingPerson(): void {
  let isActive = true
  const allowing = (async () => {
    while (isActive) {
      const { intents } = (await paying.agent.send('/local/intents?state=waiting')).json
      for (const { id } of intents) await paying.post(`/local/intents/${id}/decision`, { approve: true })
      await wait(20)
    }
  })()
  onTestFinished(async () => {
    isActive = false
    await allowing
  })
}

test('every tool returns a result that matches its output schema', async () => {
  allowingPerson()
  const seller = await hostileSeller(respond)
  paying.nameServers(new URL(seller.url).host)
  await tools.client.listTools()
  const called = new Set<string>()
  const call = async (name: string, input: Record<string, unknown> = {}): Promise<McpAnswer['result']> => {
    called.add(name)
    const { result, text, isError } = await tools.call(name, input)
    expect(isError, `${name}: ${text}`).toBe(false)
    expect(result.waiting, `${name}: ${text}`).toBeUndefined()
    return result
  }

  const { id: sandbox_id } = await call('sandbox_create', { name: 'atlas', vcpu: 2, memory_mb: 1024, disk_gb: 2 })
  const box = (name: string, input: Record<string, unknown> = {}) => call(name, { sandbox_id, ...input })
  expect((await call('sandbox_list')).sandboxes).toMatchObject([{ id: sandbox_id, name: 'atlas', vcpu: 2 }])
  expect(await box('sandbox_get')).toMatchObject({ id: sandbox_id, status: 'running' })
  expect(await box('sandbox_exec', { command: 'echo out; echo err >&2; exit 3', timeout: 10 })).toMatchObject({
    ...{ stdout: 'out\n', stderr: 'err\n', exit_code: 3 },
  })
  expect(await box('sandbox_write_file', { path: '/root/a.txt', content: 'hi' })).toMatchObject({ size: 2 })
  expect(await box('sandbox_read_file', { path: '/root/a.txt' })).toMatchObject({ content: 'hi' })
  expect(await box('sandbox_expose_port', { port: 3000 })).toMatchObject({ port: 3000 })
  expect((await box('sandbox_list_ports')).ports).toMatchObject([{ port: 3000 }])
  expect((await box('sandbox_get_url', { port: 3000 })).public_url).toMatch(/^https?:\/\/.*3000-/)
  await box('sandbox_add_domain', { domain: 'app.example' })
  expect((await box('sandbox_list_domains')).domains).toMatchObject([{ domain: 'app.example' }])
  await box('sandbox_remove_domain', { domain: 'app.example' })
  await box('sandbox_remove_port', { port: 3000 })
  expect(await box('sandbox_terminal_session')).toMatchObject({ terminal_url: expect.stringContaining('#') })
  expect(await box('sandbox_metrics')).toMatchObject({ memory_limit_mb: 1024 })
  expect((await box('sandbox_activity', { limit: 5 })).activities.length).toBeGreaterThan(0)
  expect((await box('sandbox_commands')).commands).toMatchObject([{ exit_code: 3 }])
  const { session_id } = await box('sandbox_pty_create', { command: 'cat' })
  expect(await box('sandbox_pty_write', { session_id, input: 'typed\\n' })).toMatchObject({ bytes_written: 6 })
  await eventually(async () => expect((await box('sandbox_pty_read', { session_id })).output).toBe('typed\ntyped'))
  expect(await box('sandbox_pty_resize', { session_id, cols: 100, rows: 30 })).toMatchObject({ cols: 100, rows: 30 })
  expect(await box('sandbox_pty_list')).toMatchObject({ total: 1, sessions: [{ session_id, cols: 100 }] })
  expect(await box('sandbox_pty_close', { session_id })).toMatchObject({ success: true, state: 'exited' })

  const messages = [{ role: 'user', content: 'Hello' }]
  expect(await call('chat_completions', { model: 'gpt-5-mini', messages, max_tokens: 50 })).toMatchObject({
    ...{ content: expect.stringMatching(/./), usage: { total_tokens: expect.any(Number) } },
  })

  expect((await call('domain_search', { query: 'atlas', tlds: 'com,io' })).results).toHaveLength(2)
  expect((await call('domain_check', { domains: 'atlas.com,atlas.io' })).domains).toHaveLength(2)
  expect((await call('domain_pricing', { tlds: 'com' })).pricing).toMatchObject([{ tld: 'com' }])
  const domain = 'atlas.com'
  const bought = await call('domain_register', { domain, years: 2 })
  expect(bought).toMatchObject({ success: true, domain, transaction_id: expect.any(String) })
  expect((await call('domain_list')).domains).toMatchObject([{ domain }])
  expect(await call('domain_info', { domain })).toMatchObject({ domain, status: 'active', privacy: true })
  expect(await call('domain_renew', { domain })).toMatchObject({ success: true, domain })
  expect(await call('domain_privacy', { domain, enabled: false })).toMatchObject({ privacy: false })
  const added = await call('domain_dns_add', { domain, type: 'A', host: '@', value: '192.0.2.1' })
  const record_id = added.record_id ?? added.recordId
  expect(await call('domain_dns_update', { domain, record_id, value: '192.0.2.2' })).toMatchObject({
    value: '192.0.2.2',
  })
  expect((await call('domain_dns_list', { domain })).records).toMatchObject([{ value: '192.0.2.2' }])
  expect(await call('domain_dns_delete', { domain, record_id })).toMatchObject({ success: true })
  const nameservers = ['ns1.example.net', 'ns2.example.net']
  expect(await call('domain_nameservers', { domain, nameservers })).toMatchObject({ nameservers })

  expect(await call('credits_balance')).toMatchObject({ formatted: expect.stringMatching(/^\$/) })
  expect((await call('credits_history', { limit: 3 })).transactions.length).toBeGreaterThan(0)
  expect((await call('credits_pricing')).payment_tiers.length).toBeGreaterThan(0)
  expect(await call('credits_topup', { amount_usd: 5 })).toMatchObject({ success: true, credits_cents: 500 })
  expect(await call('credits_purchase', { amount_usd: 25 })).toMatchObject({ success: true, credits_cents: 2500 })
  expect((await call('wallet_networks')).networks.length).toBeGreaterThan(0)
  expect(await call('wallet_info', { network: 'eip155:31337' })).toMatchObject({ address: paying.address })
  expect((await call('x402_discover', { url: paying.service.url })).endpoints.length).toBeGreaterThan(0)
  expect(await call('x402_check', { url: seller.url })).toMatchObject({ needs_payment: true })
  const fetched = await call('x402_fetch', { url: `${seller.url}/report` })
  expect(fetched).toMatchObject({ status: 200, body: '{"report":1}', payment: { id: expect.stringMatching(/^pay_/) } })
  expect(await call('approval_status', { id: fetched.payment.id })).toMatchObject({ state: 'settled' })

  const { automaton_id } = await call('identity_register', { name: 'Ada', bio: 'Counts.' })
  await expect
    .poll(async () => (await call('identity_list')).automatons.map((it: { automaton_id: string }) => it.automaton_id))
    .toEqual([automaton_id])
  expect(await box('sandbox_delete')).toMatchObject({ success: true })

  // The two tools of the profile `code` are called in tools.test.ts.
  const all = toolTable.filter(({ group }) => group !== 'code').map(({ name }) => name)
  expect(all.filter((name) => !called.has(name))).toEqual([])
})
