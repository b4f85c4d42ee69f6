import { expect, test } from 'vitest'
import type { PortRecord } from '#service/ports/portRepository.ts'
import { createSandboxDomains } from '#service/sandboxDomains/sandboxDomains.ts'
import { AppError } from '#shared/appError.ts'
import { maxSandboxDomains } from '#shared/contract/sandboxDomains.ts'
import { AccountId, SandboxId } from '#shared/ids.ts'
import { openServiceStore, seedAccounts, seedSandbox } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

/** Custom domains of sandboxes and their claims, on both engines of the store. */
const accounts = Array.from({ length: 20 }, (_, index) => AccountId.parse(`acc_${index}`))
const toTarget = (accountId: AccountId, index: number) => ({
  accountId,
  sandboxId: SandboxId.parse(index.toString(16).padStart(32, '0')),
})
const targets = accounts.map(toTarget)
const [ada, bob] = targets as [(typeof targets)[0], (typeof targets)[0]]
const domain = 'app.example.com'

describeStores('sandbox domains', (engine) => {
  test('a domain waits for its proof, is routed, and is removed', async () => {
    const { domains, proved, events } = await open(engine)
    const claimed = await domains.add(ada, { domain, port: 8000 })
    expect(claimed).toEqual({
      ...{ domain, port: 8000, url: 'http://app.example.com:4000', dns_target: null, verified: false },
      verification: { type: 'TXT', name: '_steward.app.example.com', value: 'steward-domain=token1' },
      created_at: '1970-01-01T00:00:01.000Z',
    })
    expect(await domains.list(ada.sandboxId)).toEqual([claimed])
    expect(events).toEqual([])
    proved.add('token1')
    const routed = await domains.add(ada, { domain })
    expect(routed).toEqual({ ...claimed, port: null, verified: true, verification: null })
    expect(await domains.list(ada.sandboxId)).toEqual([routed])
    expect(events).toEqual([
      `changed ${ada.sandboxId}`,
      `${ada.sandboxId} Added the domain app.example.com for the first exposed port.`,
    ])
    await domains.remove(ada.sandboxId, domain)
    expect(await domains.list(ada.sandboxId)).toEqual([])
    await expect(domains.remove(ada.sandboxId, domain)).rejects.toMatchObject({ code: 'sandbox-domain/not-found' })
  })

  test('of 20 accounts that claim a domain, those with a proof get it one after the other', async () => {
    const { domains, proved, events } = await open(engine)
    const claims = await Promise.all(targets.map((target) => domains.add(target, { domain })))
    expect(claims.every(({ verified }) => !verified)).toBe(true)
    expect(new Set(claims.map(({ verification }) => verification?.value)).size).toBe(20)
    proved.add(claims[3]?.verification?.value.slice('steward-domain='.length) ?? '')
    const results = await Promise.all(targets.map((target) => domains.add(target, { domain })))
    expect(results.map(({ verified }) => verified).indexOf(true)).toBe(3)
    expect(results.filter(({ verified }) => verified)).toHaveLength(1)
    expect(events.filter((event) => event.startsWith('changed'))).toEqual([`changed ${targets[3]?.sandboxId}`])
    proved.add(claims[5]?.verification?.value.slice('steward-domain='.length) ?? '')
    expect(await domains.add(targets[5] as typeof ada, { domain })).toMatchObject({ verified: true })
    expect(await domains.list(targets[3]?.sandboxId ?? ada.sandboxId)).toEqual([])
    expect(events).toContain(`changed ${targets[3]?.sandboxId}`)
  })

  test('of 20 accounts that add a reserved name at once, one gets it', async () => {
    const { domains } = await open(engine)
    const results = await Promise.allSettled(targets.map((target) => domains.add(target, { domain: 'app.test' })))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(codes).toEqual(Array(19).fill('sandbox-domain/taken'))
  })

  test('40 concurrent domains of a sandbox stop at the limit', async () => {
    const { domains } = await open(engine)
    const names = Array.from({ length: 40 }, (_, index) => (index % 2 ? `n${index}.test` : `n${index}.example.com`))
    const results = await Promise.allSettled(names.map((name) => domains.add(ada, { domain: name })))
    const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(codes).toEqual(Array(40 - maxSandboxDomains).fill('sandbox-domain/too-many'))
    const listed = await domains.list(ada.sandboxId)
    expect(listed.map(({ domain: name }) => name)).toEqual(listed.map(({ domain: name }) => name).sort())
    expect(listed).toHaveLength(maxSandboxDomains)
  })

  test('20 concurrent requests for one domain share its token and announce it once', async () => {
    const { domains, proved, events } = await open(engine)
    proved.add('token1')
    const results = await Promise.all(Array.from({ length: 20 }, () => domains.add(ada, { domain })))
    expect(results.every(({ verified }) => verified)).toBe(true)
    expect(events).toEqual([`changed ${ada.sandboxId}`, expect.stringContaining('Added the domain')])
  })

  test('a claim that is removed during its check is not routed', async () => {
    const { domains, proved, checks } = await open(engine)
    proved.add('token1')
    checks.push(() => domains.remove(ada.sandboxId, domain))
    await expect(domains.add(ada, { domain })).rejects.toMatchObject({ code: 'sandbox-domain/not-found' })
    expect(await domains.list(ada.sandboxId)).toEqual([])
  })

  test('a domain is not taken from another sandbox of the account that got it during the check', async () => {
    const { domains, proved, owned, checks, store } = await open(engine)
    const sibling = { ...ada, sandboxId: SandboxId.parse('f'.repeat(32)) }
    await seedSandbox(store, sibling.accountId, sibling.sandboxId)
    proved.add('token1')
    checks.push(async () => {
      owned.add(domain)
      await domains.add(sibling, { domain })
    })
    await expect(domains.add(ada, { domain })).rejects.toMatchObject({ code: 'sandbox-domain/taken' })
    expect(await domains.list(sibling.sandboxId)).toMatchObject([{ domain, verified: true }])
  })

  test('a domain of another account, a missing port and a foreign sandbox are refused', async () => {
    const { domains } = await open(engine)
    await expect(domains.add(ada, { domain, port: 9 })).rejects.toMatchObject({ code: 'port/not-found' })
    await expect(domains.add({ ...ada, accountId: bob.accountId }, { domain })).rejects.toMatchObject({
      code: 'sandbox/not-found',
    })
    await expect(domains.add(ada, { domain: 'x.localhost' })).rejects.toMatchObject({ code: 'sandbox-domain/taken' })
    await domains.add(ada, { domain: 'app.test' })
    await expect(domains.add(bob, { domain: 'app.test' })).rejects.toMatchObject({ code: 'sandbox-domain/taken' })
    await expect(domains.remove(bob.sandboxId, 'app.test')).rejects.toMatchObject({ code: 'sandbox-domain/not-found' })
  })
})

async function open(engine: StoreEngine) {
  const { store } = await openServiceStore(engine)
  await seedAccounts(store, ...accounts)
  for (const { accountId, sandboxId } of targets) await seedSandbox(store, accountId, sandboxId)
  const [proved, owned] = [new Set<string>(), new Set<string>()]
  const events: string[] = []
  /** Run before the next result of a proof. */
  const checks: (() => Promise<unknown>)[] = []
  const find = async (_: unknown, sandboxId: SandboxId, port: number): Promise<PortRecord | undefined> =>
    port === 8000 ? { sandboxId, port, visibility: 'public', subdomain: null } : undefined
  let tokens = 0
  const domains = createSandboxDomains({
    store,
    ports: {
      find,
      async get(query, sandboxId, port) {
        const record = await find(query, sandboxId, port)
        if (!record) throw new AppError('port/not-found', 'It is not exposed.')
        return record
      },
      findFirst: async () => undefined,
    },
    isOwned: async (_, accountId, name) => accountId === ada.accountId && owned.has(name),
    isOwn: (name) => name.endsWith('.localhost'),
    proof: {
      getRecord: ({ domain: name, token }) => ({
        ...{ type: 'TXT', name: `_steward.${name}`, value: `steward-domain=${token}` },
      }),
      async isProved({ token }) {
        await checks.shift()?.()
        return proved.has(token)
      },
    },
    newToken: () => `token${++tokens}`,
    sandboxHost: undefined,
    getLocalUrl: (name) => `http://${name}:4000`,
    note: (sandboxId, { description }) => void events.push(`${sandboxId} ${description}`),
    onChanged: (sandboxId) => void events.push(`changed ${sandboxId}`),
    now: () => 1_000,
  })
  return { store, domains, proved, owned, events, checks }
}
