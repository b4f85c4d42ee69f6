import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { toolProfiles } from '../toolClients.ts'
import { toListedTool } from './toolListing.ts'
import { listToolsOfProfile, toolTable } from './toolTable.ts'

/** Tools that `interface.md` lists, in the same order. */
const promised =
  `sandbox_create sandbox_list sandbox_exec sandbox_write_file sandbox_read_file sandbox_expose_port sandbox_delete sandbox_get_url
sandbox_pty_create sandbox_pty_write sandbox_pty_read sandbox_pty_close sandbox_pty_list chat_completions
domain_search domain_list domain_info domain_register domain_renew domain_dns_list domain_dns_add domain_dns_update domain_dns_delete
domain_pricing domain_check domain_privacy domain_nameservers credits_balance credits_history credits_pricing
wallet_info wallet_networks x402_discover x402_check x402_fetch`.split(/\s+/)
const more =
  `sandbox_get sandbox_list_ports sandbox_remove_port sandbox_add_domain sandbox_list_domains sandbox_remove_domain sandbox_terminal_session
sandbox_metrics sandbox_activity sandbox_commands sandbox_pty_resize credits_topup credits_purchase identity_register identity_list approval_status`.split(
    /\s+/,
  )
const listings = toolTable.map(toListedTool)
const input = (name: string) => listings.find((it) => it.name === name)?.inputSchema

test('lists exactly the tools of the interface and the additional ones', () => {
  expect(promised).toHaveLength(35)
  expect(listings.map(({ name }) => name).sort()).toEqual([...promised, ...more].sort())
})

test('has the parameters, ranges and defaults of the interface', () => {
  expect(input('sandbox_create')?.properties).toEqual({
    name: { type: 'string' },
    vcpu: { type: 'integer', minimum: 1, maximum: 4, default: 1 },
    memory_mb: { type: 'integer', minimum: 512, maximum: 8192, default: 512 },
    disk_gb: { type: 'integer', minimum: 1, maximum: 50, default: 1 },
    region: { type: 'string', enum: ['eu-north', 'us-east'], default: 'eu-north' },
  })
  expect(input('sandbox_exec')).toMatchObject({
    required: ['sandbox_id', 'command'],
    properties: { timeout: { default: 30 } },
  })
  expect(input('sandbox_expose_port')).toMatchObject({ properties: { port: { minimum: 1, maximum: 65_535 } } })
  expect(input('sandbox_pty_create')).toMatchObject({ properties: { cols: { default: 80 }, rows: { default: 24 } } })
  expect(input('sandbox_pty_read')).toMatchObject({ properties: { full: { default: false } } })
  expect(input('chat_completions')).toMatchObject({
    required: ['model', 'messages'],
    properties: { temperature: { minimum: 0, maximum: 2, default: 1 } },
  })
  expect(input('domain_search')).toMatchObject({ properties: { tlds: { default: 'com,io,ai,xyz,net,org,dev' } } })
  expect(input('domain_register')).toMatchObject({
    required: ['domain'],
    properties: { years: { minimum: 1, maximum: 10, default: 1 }, privacy: { default: true } },
  })
  expect(input('domain_dns_add')).toMatchObject({
    required: ['domain', 'type', 'host', 'value'],
    properties: { ttl: { default: 3600 }, type: { enum: ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'CAA', 'NS'] } },
  })
  expect(input('domain_nameservers')).toMatchObject({ properties: { nameservers: { minItems: 2, maxItems: 13 } } })
  expect(input('credits_history')).toMatchObject({ properties: { limit: { default: 20 }, offset: { default: 0 } } })
  expect(input('wallet_info')).toMatchObject({ properties: { network: { default: 'eip155:8453' } } })
  expect(input('x402_fetch')).toMatchObject({ required: ['url'], properties: { method: { default: 'GET' } } })
})

const budgets: Partial<Record<(typeof toolProfiles)[number], number>> = { all: 4000, 'read-only': 1800, code: 1000 }

test.each(toolProfiles)('lists profile %s deterministically and within its token budget', (profile) => {
  const listTools = () => listToolsOfProfile(profile).map(toListedTool)
  expect(JSON.stringify(listTools())).toBe(JSON.stringify(listTools()))
  const cost = listTools().map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  expect(encode(JSON.stringify(cost)).length).toBeLessThanOrEqual(budgets[profile] ?? 4000)
})

test('annotates each tool with the effects of its operations', () => {
  for (const { name, effect, routes, approval } of toolTable) {
    const annotations = listings.find((it) => it.name === name)?.annotations
    const reads = routes.every(({ method, path }) => method === 'GET' || /\/(check|discover|quote)$/.test(path))
    expect([name, annotations?.readOnlyHint]).toEqual([name, reads])
    const deletes = routes.some(({ method }) => method === 'DELETE' || method === 'PUT')
    if (deletes) expect([name, annotations?.destructiveHint]).toEqual([name, true])
    expect([name, approval !== undefined]).toEqual([name, effect === 'destroy'])
  }
})
