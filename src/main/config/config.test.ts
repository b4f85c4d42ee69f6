import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mapFamilies } from '#shared/contract/families.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { type Environment, listConfigKeys, loadConfig } from './config.ts'

function load(content: unknown, environment: Environment = {}) {
  const file = join(temporaryFolder('config'), 'config.json')
  if (content !== undefined) writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return loadConfig({ file, required: content !== undefined, environment })
}

const refusal = (message: RegExp) =>
  expect.objectContaining({ code: 'config/invalid', message: expect.stringMatching(message) })

const unset = { base_url: null, api_key: null, models: [] }

test('uses defaults without a file', () => {
  expect(load(undefined)).toEqual({
    service: {
      listen: '127.0.0.1:0',
      public_url: null,
      sandbox_host: null,
      database: { url_file: null },
      tls: { cert_file: null, key_file: null },
      insecure_behind_proxy: false,
      rate_limits: {
        per_key: 6_000,
        per_address: 12_000,
        sign_ins_per_address: 300,
        new_automatons_per_day: 1_000,
        nonces_per_day: 20_000,
        new_accounts_per_day: 1_000,
      },
    },
    auth: { domains: ['conway.tech'], new_accounts: null },
    app: { listen: '127.0.0.1:0', open_browser: true, service_url: null, service_ca_file: null },
    sandboxes: {
      runtimes: ['bubblewrap', 'docker'],
      docker: {
        endpoint: null,
        ca_file: null,
        cert_file: null,
        key_file: null,
        image: 'docker.io/library/debian:12',
        pull: true,
      },
      default_network: 'auto',
      warm_pool_size: null,
      cpu_weight: 25,
    },
    credits: { owner_start_cents: 1_000, charge_sandboxes: false },
    payments: { network: null, pay_to: null, facilitator: null },
    domains: {
      dns_listen: null,
      registrar: 'local',
      rdap_bootstrap_file: null,
      resolvers: [],
      propagation_resolvers: ['1.1.1.1', '8.8.8.8', '9.9.9.9', '208.67.222.222'],
    },
    inference: {
      families: mapFamilies(() => unset),
      local: [],
    },
    wallet: {
      rpc: {
        ...{ base: 'https://mainnet.base.org', base_sepolia: 'https://sepolia.base.org' },
        ...{ solana: 'https://api.mainnet-beta.solana.com', solana_devnet: 'https://api.devnet.solana.com' },
      },
      secret_store: 'auto',
    },
    identity: { domain_name: 'AIWS Automaton' },
    log: { level: 'info' },
  })
})

test('the environment overrides the file, and the file overrides the defaults', () => {
  const config = load(
    { log: { level: 'warn' }, app: { open_browser: false } },
    {
      STEWARD_LOG_LEVEL: 'debug',
      STEWARD_SANDBOXES_RUNTIMES: 'bubblewrap',
      STEWARD_SERVICE_INSECURE_BEHIND_PROXY: '1',
    },
  )
  expect(config.log.level).toBe('debug')
  expect(config.app.open_browser).toBe(false)
  expect(config.sandboxes.runtimes).toEqual(['bubblewrap'])
  expect(config.service.insecure_behind_proxy).toBe(true)
})

test.each([
  ['an unknown key', { service: { lisen: 'x' } }, /Unknown key `service\.lisen` in .*config\.json/],
  ['an unknown area', { wallets: {} }, /Unknown key `wallets` in/],
  ['a wrong type', { app: { open_browser: 'yes' } }, /`app\.open_browser` in .* is not valid/],
  ['a wrong area', { app: 7 }, /`app` in .* is not valid/],
  ['a wrong address', { service: { listen: '8080' } }, /`service\.listen` in .* must be HOST:PORT/],
  ['a port beyond the last', { service: { listen: '127.0.0.1:65536' } }, /`service\.listen` in .* up to 65535/],
  [
    'an unknown runtime',
    { sandboxes: { runtimes: ['chroot'] } },
    /`sandboxes\.runtimes` in .* must be bubblewrap or docker/,
  ],
  [
    'an engine elsewhere without TLS',
    { sandboxes: { docker: { endpoint: 'tcp://engine.example.com:2375' } } },
    /`sandboxes\.docker` in .* needs `ca_file`, `cert_file` and `key_file` for an engine on another machine/,
  ],
  [
    'half of the TLS files of an engine',
    { sandboxes: { docker: { ca_file: 'ca.pem' } } },
    /`sandboxes\.docker` in .* needs all of `ca_file`, `cert_file` and `key_file`, or none/,
  ],
  ['half of TLS', { service: { tls: { cert_file: 'a.pem' } } }, /`service\.tls` in .* needs both/],
  [
    'payments to nobody',
    { payments: { network: 'base', facilitator: { url: 'https://facilitator.example.com' } } },
    /`payments` in .* needs `network` and `pay_to` for this facilitator/,
  ],
  [
    'a facilitator of no kind',
    { payments: { facilitator: { rpc_url: 'https://rpc.example.com' } } },
    /`payments\.facilitator` in .* must be "test-ledger"/,
  ],
  ['what is not valid JSON', '{"log": ', /is not valid JSON/],
  ['a list', [], /must be a JSON object/],
])('reports %s by name', (_, content, message) => {
  expect(() => load(content)).toThrow(refusal(message))
})

test.each([
  ['an unknown variable', { STEWARD_LOGLEVEL: 'info' }, /STEWARD_LOGLEVEL/],
  ['a wrong value', { STEWARD_LOG_LEVEL: 'loud' }, /`log\.level` \(from STEWARD_LOG_LEVEL\) must be debug/],
  ['a wrong flag', { STEWARD_APP_OPEN_BROWSER: 'perhaps' }, /STEWARD_APP_OPEN_BROWSER must be true or false/],
])('reports %s of the environment by name', (_, environment, message) => {
  expect(() => load(undefined, environment)).toThrow(refusal(message))
})

test('requires an explicitly named file to exist', () => {
  expect(() => loadConfig({ file: '/nowhere/steward.json', required: true, environment: {} })).toThrow(
    refusal(/Cannot read the configuration \/nowhere\/steward\.json/),
  )
})

test('every key has a description and an environment variable', () => {
  expect(listConfigKeys().map((key) => key.variable)).toContain('STEWARD_SERVICE_TLS_CERT_FILE')
  for (const key of listConfigKeys()) expect(key.description, key.path.join('.')).not.toBe('')
})

test('accepts and ignores environment variables with client API keys', () => {
  const keys = { STEWARD_KEY: 'sk_steward_1', STEWARD_MCP_KEY: 'sk_tools_1', STEWARD_TOOLS_KEY: 'sk_tools_2' }
  expect(load(undefined, keys)).toEqual(load(undefined))
  expect(() => load(undefined, { ...keys, STEWARD_API_KEY: 'sk_steward_1' })).toThrow(
    refusal(/environment variable STEWARD_API_KEY\./),
  )
})

test('accepts a former key with a warning that names the new one', () => {
  const file = join(temporaryFolder('config'), 'config.json')
  writeFileSync(file, JSON.stringify({ sandboxes: { spares: 3, runtimes: ['docker'] } }))
  const warnings: string[] = []
  const load = (environment: Environment) =>
    loadConfig({ file, required: true, environment, onWarning: (warning) => void warnings.push(warning) })
  expect(load({}).sandboxes).toMatchObject({ warm_pool_size: 3, runtimes: ['docker'] })
  expect(warnings.splice(0)).toEqual([`\`sandboxes.spares\` in ${file} is now called \`sandboxes.warm_pool_size\`.`])
  expect(load({ STEWARD_SANDBOXES_SPARES: '1' }).sandboxes.warm_pool_size).toBe(1)
  expect(warnings.at(-1)).toBe(
    'The environment variable STEWARD_SANDBOXES_SPARES is now called STEWARD_SANDBOXES_WARM_POOL_SIZE.',
  )
  writeFileSync(file, JSON.stringify({ sandboxes: null }))
  expect(() => load({})).toThrow(refusal(/`sandboxes`/))
})
