import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DomainRegistration, type Registrar, RegistrarError } from '#service/domains/registrars/registrar.ts'
import { type DnsRecordData, dnsRecordTypes } from '#shared/dns/dnsRecord.ts'
import { planZone, type ZoneStep } from '#shared/dns/zonePlan.ts'
import { randomZone } from '../support/fixtures/randomZone.ts'

export type RegistrarWorld = {
  registrar: Registrar
  /** Registers the name for another owner. */
  take(name: string): void | Promise<void>
  /** `register NAME` or `renew NAME` for each charge. */
  billed(): readonly string[]
  close(): Promise<void>
}

export const oneOfEach: readonly DnsRecordData[] = [
  { type: 'A', host: '@', value: '192.0.2.1', ttl: 3_600, distance: null },
  { type: 'AAAA', host: 'www', value: '2001:db8::1', ttl: 300, distance: null },
  { type: 'CNAME', host: 'shop', value: 'shops.example.net', ttl: 86_400, distance: null },
  { type: 'MX', host: '@', value: 'mail.example.net', ttl: 3_600, distance: 20 },
  { type: 'TXT', host: '@', value: 'v=spf1 include:example.net ~all', ttl: 3_600, distance: null },
  { type: 'SRV', host: '_sip._tcp', value: '5 5060 sip.example.net', ttl: 3_600, distance: 7 },
  { type: 'CAA', host: '@', value: '0 issue "letsencrypt.org"', ttl: 3_600, distance: null },
  { type: 'NS', host: 'sub', value: 'ns1.example.net', ttl: 3_600, distance: null },
]

export function registrarContract(title: string, open: () => Promise<RegistrarWorld>): void {
  describe(title, () => {
    let world: RegistrarWorld
    let count = 0
    beforeAll(async () => {
      world = await open()
    })
    afterAll(() => world?.close())

    const fresh = (prefix = 'name') => `${prefix}-${++count}.com`
    const createOrder = async (name: string, fields: Partial<DomainRegistration> = {}): Promise<DomainRegistration> => {
      const [offer] = await world.registrar.check([name])
      const price = offer?.price ?? { registration: 5_000, renewal: 5_000 }
      return { name, years: 1, privacy: true, nameservers: undefined, price, ...fields }
    }
    const buy = async (fields: Partial<DomainRegistration> = {}): Promise<string> => {
      const name = fresh()
      await world.registrar.register(await createOrder(name, fields))
      return name
    }
    const catchError = (work: Promise<unknown>): Promise<RegistrarError> =>
      work.then(
        () => Promise.reject(new Error('It was done.')),
        (error) => {
          expect(error).toBeInstanceOf(RegistrarError)
          return error
        },
      )
    const without = (record: DnsRecordData & { id?: string }) => {
      const { id: _, ...data } = record
      return data
    }

    test('returns prices in whole cents', async () => {
      const prices = await world.registrar.prices()
      expect(prices.map(({ tld }) => tld)).toContain('com')
      for (const { registration, renewal, transfer } of prices) {
        for (const cents of [registration, renewal, transfer]) expect(Number.isInteger(cents) && cents > 0).toBe(true)
      }
    })

    test('returns names in request order and never marks unsold names as available', async () => {
      const [free, unavailable, premium, elsewhere] = [fresh(), fresh('gone'), fresh('premium'), 'name.museum']
      await world.take(unavailable)
      const offers = await world.registrar.check([elsewhere, premium, unavailable, free])
      expect(offers.map(({ name }) => name)).toEqual([elsewhere, premium, unavailable, free])
      expect(offers.map(({ status }) => status === 'available')).toEqual([false, true, false, true])
      expect(offers[2]?.status).toBe('taken')
      const [regular, high] = [offers[3], offers[1]]
      expect([regular?.premium, high?.premium]).toEqual([false, true])
      expect(high?.price?.registration).toBeGreaterThan(10 * (regular?.price?.registration ?? 0))
    })

    test('checks 200 names in one call', async () => {
      const names = Array.from({ length: 200 }, () => fresh())
      const offers = await world.registrar.check(names)
      expect(offers.map(({ name, status }) => [name, status])).toEqual(names.map((name) => [name, 'available']))
    })

    test('registers a name once and then finds it as registered', async () => {
      const name = fresh()
      expect(await world.registrar.find(name)).toBeUndefined()
      await world.registrar.register(await createOrder(name, { years: 3, privacy: false }))
      const registration = await world.registrar.find(name)
      expect(registration).toMatchObject({ name, status: 'active', privacy: false, locked: true, autoRenew: false })
      expect(registration?.nameservers.length).toBeGreaterThanOrEqual(2)
      const years = new Date(registration?.expiresAtMs ?? 0).getUTCFullYear() - new Date().getUTCFullYear()
      expect(years).toBe(3)
      expect((await world.registrar.check([name]))[0]?.status).toBe('taken')
      const again = await catchError(world.registrar.register(await createOrder(name)))
      expect(again.kind).toBe('taken')
      expect(world.billed().filter((it) => it === `register ${name}`)).toHaveLength(1)
    })

    test('does not register a name that became unavailable meanwhile', async () => {
      const name = fresh('gone')
      const order = await createOrder(name)
      await world.take(name)
      expect((await catchError(world.registrar.register(order))).kind).toBe('taken')
      expect(world.billed()).not.toContain(`register ${name}`)
    })

    test('does not charge more than the agreed price', async () => {
      const name = fresh('premium')
      const price = { registration: 199, renewal: 199 }
      expect((await catchError(world.registrar.register(await createOrder(name, { price })))).kind).toBe('refused')
      const domain = await buy()
      const cheap = world.registrar.renew({ name: domain, years: 2, amountCents: 2 })
      expect((await catchError(cheap)).kind).toBe('refused')
      expect(world.billed()).not.toContain(`register ${name}`)
      expect(world.billed()).not.toContain(`renew ${domain}`)
    })

    test('buys a premium name for its price', async () => {
      const name = fresh('premium')
      await world.registrar.register(await createOrder(name, { years: 2 }))
      expect((await world.registrar.find(name))?.status).toBe('active')
    })

    test('renews from the expiry date for the quoted price', async () => {
      const name = await buy()
      const before = await world.registrar.find(name)
      const yearly = await world.registrar.renewalPrice(name)
      expect(yearly).toBeGreaterThan(0)
      await world.registrar.renew({ name, years: 2, amountCents: 2 * (yearly ?? 0) })
      const after = await world.registrar.find(name)
      const year = (ms: number | undefined) => new Date(ms ?? 0).getUTCFullYear()
      expect(year(after?.expiresAtMs) - year(before?.expiresAtMs)).toBe(2)
      expect(world.billed().filter((it) => it === `renew ${name}`)).toHaveLength(1)
    })

    test('sets privacy and lock idempotently', async () => {
      const name = await buy()
      for (const enabled of [true, false, false, true]) {
        await world.registrar.setPrivacy(name, enabled)
        await world.registrar.setLocked(name, enabled)
        expect(await world.registrar.find(name)).toMatchObject({ privacy: enabled, locked: enabled })
      }
    })

    test('returns or sends the auth code of an unlocked domain', async () => {
      const name = await buy()
      await world.registrar.setLocked(name, false)
      const { code } = await world.registrar.authCode(name)
      expect(code === null || code.length >= 6).toBe(true)
    })

    test('sets 2 to 13 nameservers, including at registration', async () => {
      const hosts = Array.from({ length: 13 }, (_, index) => `ns${index + 1}.example.net`)
      const name = await buy({ nameservers: hosts })
      expect((await world.registrar.find(name))?.nameservers).toEqual(hosts)
      await world.registrar.setNameservers(name, hosts.slice(0, 2))
      expect((await world.registrar.find(name))?.nameservers).toEqual(hosts.slice(0, 2))
    })

    test('stores records of supported types unchanged', async () => {
      const name = await buy()
      expect(await world.registrar.records(name)).toEqual([])
      const records = oneOfEach.filter(({ type }) => world.registrar.recordTypes.includes(type))
      expect(records.length).toBe(world.registrar.recordTypes.length)
      for (const [index, record] of records.entries()) {
        await world.registrar.addRecord(name, record)
        expect((await world.registrar.records(name)).map(without)).toEqual(records.slice(0, index + 1))
      }
    })

    test('rejects records of unsupported types without adding any', async () => {
      const name = await buy()
      const others = dnsRecordTypes.filter((type) => !world.registrar.recordTypes.includes(type))
      for (const record of oneOfEach.filter(({ type }) => others.includes(type))) {
        expect((await catchError(world.registrar.addRecord(name, record))).kind).toBe('unsupported')
      }
      expect(await world.registrar.records(name)).toEqual([])
    })

    test.each([
      ['long', 'x'.repeat(300)],
      ['quoted', '"quoted" and \\ more; & = % + #'],
      ['with letters of all kinds', 'grüße, 日本 🚀'],
    ])('stores a text that is %s', async (_, value) => {
      const name = await buy()
      const record: DnsRecordData = { type: 'TXT', host: '_note', value, ttl: 600, distance: null }
      await world.registrar.addRecord(name, record)
      expect((await world.registrar.records(name)).map(without)).toEqual([record])
    })

    test('changes and removes a record by its id, which a change may replace', async () => {
      const name = await buy()
      const [address, mail] = [oneOfEach[0], oneOfEach[3]] as [DnsRecordData, DnsRecordData]
      const id = await world.registrar.addRecord(name, address)
      const otherId = await world.registrar.addRecord(name, mail)
      const changed = { ...address, host: '*', value: '192.0.2.9', ttl: 900 }
      const newId = await world.registrar.changeRecord(name, id, changed)
      expect(await world.registrar.records(name)).toEqual([
        { ...changed, id: newId },
        { ...mail, id: otherId },
      ])
      await world.registrar.removeRecord(name, newId)
      expect(await world.registrar.records(name)).toEqual([{ ...mail, id: otherId }])
      for (const unknownDomain of [
        world.registrar.removeRecord(name, newId),
        world.registrar.changeRecord(name, newId, changed),
      ])
        expect((await catchError(unknownDomain)).kind).toBe('refused')
    })

    test('plans no more steps after applying the plan for a random zone', async () => {
      const name = await buy()
      const present = () => world.registrar.records(name)
      const apply = async (step: ZoneStep): Promise<unknown> => {
        if (step.action === 'add') return world.registrar.addRecord(name, step.after)
        if (step.action === 'change') return world.registrar.changeRecord(name, step.before.id, step.after)
        return world.registrar.removeRecord(name, step.before.id)
      }
      await fc.assert(
        fc.asyncProperty(randomZone(name), async (zone) => {
          const supported = zone.filter(({ type }) => world.registrar.recordTypes.includes(type))
          for (const step of planZone(name, await present(), supported)) await apply(step)
          expect(planZone(name, await present(), supported)).toEqual([])
        }),
        { numRuns: 15 },
      )
    })

    test('rejects reads and changes of a domain outside the account', async () => {
      const name = fresh('nobodys')
      expect((await catchError(world.registrar.records(name))).kind).toBe('refused')
      expect((await catchError(world.registrar.setLocked(name, true))).kind).toBe('refused')
      expect((await catchError(world.registrar.renew({ name, years: 1, amountCents: 90_000 }))).kind).toBe('refused')
      expect(world.billed()).not.toContain(`renew ${name}`)
    })
  })
}
