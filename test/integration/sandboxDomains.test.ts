import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '#service/domains/registrars/local/dns/dnsServer.ts'
import { createDomainProof } from '#service/sandboxDomains/domainProof.ts'
import { sandboxDomainRepository } from '#service/sandboxDomains/sandboxDomainRepository.ts'
import { createSandboxDomains, type SandboxDomains } from '#service/sandboxDomains/sandboxDomains.ts'
import { AccountId, SandboxId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'

/** Domains that lead to sandboxes, verified with a real DNS server. */
const ada = { accountId: AccountId.parse('acc_ada'), sandboxId: SandboxId.parse('a'.repeat(32)) }
const bob = { accountId: AccountId.parse('acc_bob'), sandboxId: SandboxId.parse('b'.repeat(32)) }
const second = { accountId: ada.accountId, sandboxId: SandboxId.parse('c'.repeat(32)) }
const domain = 'app.example.com'
let dns: DnsServer
let database: Database
let all: SandboxDomains
let changes: number
let owned: string[]
/** TXT records by host below example.com. */
const texts = new Map<string, string[]>()

beforeAll(async () => {
  dns = await startDnsServer({ host: '127.0.0.1', port: 0 }, async (name) =>
    name.endsWith('example.com')
      ? {
          ...{ name: 'example.com', registeredAtMs: 0, activeAtMs: 0, expiresAtMs: 4e12, privacy: true, locked: true },
          ...{ nameservers: ['ns1.example.com'], serial: 1 },
          records: [...texts].flatMap(([host, values]) =>
            values.map((value) => ({ id: value, type: 'TXT' as const, host, value, ttl: 300, distance: null })),
          ),
        }
      : undefined,
  )
})
afterAll(() => dns?.close())
beforeEach(() => {
  texts.clear()
  changes = 0
  owned = []
  database = openDatabase(':memory:')
  migrate(database, serviceMigrations)
  for (const { accountId } of [ada, bob]) {
    database.prepare('INSERT INTO accounts VALUES (?, ?, ?, ?)').run(accountId, 'user', accountId, 0)
  }
  for (const { sandboxId, accountId } of [ada, bob, second]) plantSandbox(sandboxId, accountId)
  all = createDomains({})
})
afterEach(() => database.close())

function plantSandbox(id: SandboxId, accountId: AccountId): void {
  const columns = database
    .prepare<[], { name: string; type: string; notnull: number; dflt: string | null }>(
      'SELECT name, type, "notnull", dflt_value AS dflt FROM pragma_table_info(\'sandboxes\')',
    )
    .all()
    .filter(({ notnull, dflt, name }) => (notnull === 1 && dflt === null) || name === 'id' || name === 'status')
  const records: Readonly<Record<string, string>> = {
    id,
    account_id: accountId,
    status: 'stopped',
    region: 'eu-north',
    network: 'none',
  }
  const values = columns.map(({ name, type }) => records[name] ?? (type === 'INTEGER' ? 1 : 'x'))
  const names = columns.map(({ name }) => name).join(', ')
  database.prepare(`INSERT INTO sandboxes (${names}) VALUES (${values.map(() => '?').join(', ')})`).run(...values)
}

function createDomains({
  sandboxHost,
  servers = [`127.0.0.1:${dns.port}`],
}: {
  sandboxHost?: string
  servers?: string[]
}) {
  let tokens = 0
  return createSandboxDomains({
    store: createSqliteStore(database),
    ports: {
      find: async () => expect.unreachable(),
      get: async () => expect.unreachable(),
      findFirst: async () => undefined,
    },
    isOwn: (name) => name.endsWith('.localhost'),
    isOwned: async (_, accountId, name) => accountId === ada.accountId && owned.includes(name),
    proof: createDomainProof(servers),
    newToken: () => `token${++tokens}`,
    sandboxHost,
    getLocalUrl: (hostName) => `http://${hostName}:4000`,
    note: () => {},
    onChanged() {
      changes += 1
    },
    now: () => 0,
  })
}
const leadsTo = async () => (await sandboxDomainRepository.find(createSqliteStore(database).read, domain))?.sandboxId

test('does not route a domain until its DNS record proves ownership', async () => {
  const pending = await all.add(ada, { domain })
  expect(pending).toMatchObject({
    verified: false,
    verification: { type: 'TXT', name: '_steward.app.example.com', value: 'steward-domain=token1' },
  })
  expect([await leadsTo(), changes]).toEqual([undefined, 0])
  expect(await all.list(ada.sandboxId)).toEqual([pending])

  texts.set('_steward.app', ['something else', 'steward-domain=token0'])
  expect((await all.add(ada, { domain })).verified).toBe(false)
  texts.set('_steward.app', ['something else', 'steward-domain=token1'])
  expect(await all.add(ada, { domain })).toMatchObject({ verified: true, verification: null })
  expect([await leadsTo(), changes]).toEqual([ada.sandboxId, 1])
  expect(await all.list(ada.sandboxId)).toMatchObject([{ domain, verified: true }])
})

test('does not accept the record of another account as proof', async () => {
  texts.set('_steward.app', ['steward-domain=token1'])
  expect((await all.add(ada, { domain })).verified).toBe(true)
  expect((await all.add(bob, { domain })).verified).toBe(false)
  expect(await leadsTo()).toBe(ada.sandboxId)
  expect(await all.list(bob.sandboxId)).toMatchObject([{ verification: { value: 'steward-domain=token2' } }])
})

test('moves the domain to the account that currently controls its DNS', async () => {
  texts.set('_steward.app', ['steward-domain=token1'])
  await all.add(ada, { domain })
  await all.add(bob, { domain })
  texts.set('_steward.app', ['steward-domain=token2'])
  expect((await all.add(bob, { domain })).verified).toBe(true)
  expect(await leadsTo()).toBe(bob.sandboxId)
  expect(await all.list(ada.sandboxId)).toEqual([])
})

test('routes a domain registered by the account immediately, but not for other accounts', async () => {
  owned = [domain]
  expect((await all.add(bob, { domain })).verified).toBe(false)
  expect((await all.add(ada, { domain })).verified).toBe(true)
  await expect(all.add(second, { domain })).rejects.toMatchObject({ code: 'sandbox-domain/taken' })
})

test.each(['app.test', 'app.example'])(
  'the reserved name %s needs proof only on a service on the internet',
  async (name) => {
    expect((await all.add(ada, { domain: name })).verified).toBe(true)
    await expect(all.add(bob, { domain: name })).rejects.toMatchObject({ code: 'sandbox-domain/taken' })
    await all.remove(ada.sandboxId, name)
    const hosted = createDomains({ sandboxHost: 'boxes.example.net' })
    expect(await hosted.add(ada, { domain: name })).toMatchObject({ verified: false, dns_target: 'boxes.example.net' })
  },
)

test('does not verify a domain if DNS does not respond', async () => {
  const deaf = createDomains({ servers: ['127.0.0.1:9'] })
  expect((await deaf.add(ada, { domain })).verified).toBe(false)
})

test('does not add a domain to a sandbox deleted during the DNS query', async () => {
  texts.set('_steward.app', ['steward-domain=token1'])
  const added = all.add(ada, { domain })
  added.catch(() => {}) // awaited below
  expect(await all.list(ada.sandboxId)).toMatchObject([{ domain, verified: false }])
  database.prepare('DELETE FROM sandboxes WHERE id = ?').run(ada.sandboxId)
  await expect(added).rejects.toMatchObject({ code: 'sandbox/not-found' })
  expect(await leadsTo()).toBeUndefined()
})

test('an unverified domain can be removed and counts toward the limit', async () => {
  await all.add(ada, { domain })
  await all.remove(ada.sandboxId, domain)
  expect(await all.list(ada.sandboxId)).toEqual([])
  for (let index = 0; index < 32; index += 1) await all.add(ada, { domain: `n${index}.test` })
  await expect(all.add(ada, { domain })).rejects.toMatchObject({ code: 'sandbox-domain/too-many' })
})
