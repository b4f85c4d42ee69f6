import { randomBytes } from 'node:crypto'
import { dnsRecordTypes } from '#shared/dns/dnsRecord.ts'
import type { Query, Store, Transaction } from '#storage/store.ts'
import { parseDomainName } from '../../domainName.ts'
import {
  type Availability,
  assertPrice,
  type NamePrice,
  type Registrar,
  type RegistrarDomain,
  RegistrarError,
  type RegistrarRecord,
  type TldPrice,
} from '../registrar.ts'
import { type RegistryDomain, registryRepository } from './registryRepository.ts'

/** Labels that begin with one of these prefixes simulate the special outcomes of a real registrar. */
const magicNames = {
  /** Costs more than other names. */
  premium: 'premium-',
  /** Pending for some seconds after registration. */
  async: 'async-',
  /** Registered by another account. */
  taken: 'taken-',
  /** Available when checked, taken when registered. */
  takenAtPurchase: 'taken-at-purchase-',
  /** The registrar does not respond. */
  down: 'down-',
  /** Expired. Only the former owner can renew it. */
  redemption: 'redemption-',
  /** Expires a week after registration. */
  expiring: 'expiring-',
} as const
type MagicName = keyof typeof magicNames

/** Name servers of the test registry's zones. */
export const registryNameservers = ['ns1.registry.steward.test', 'ns2.registry.steward.test'] as const

const pendingMs = 5_000
const expiringMs = 7 * 24 * 60 * 60_000
const premiumFactor = 200
const maxYearsAhead = 10

/** Creates the local test registry. It is not connected to the public DNS, and its names cost test money. */
export function createLocalRegistry(options: {
  store: Store
  prices: readonly TldPrice[]
  now: () => number
}): Registrar {
  const { store, prices, now } = options
  const priceOf = new Map(prices.map((price) => [price.tld, price]))

  /** @returns undefined if the registry does not report a price */
  const findPrice = (name: string): NamePrice | undefined => {
    const magic = findMagicName(name)
    const price = priceOf.get(parseDomainName(name).tld)
    if (!price || magic === 'down') return undefined
    const factor = magic === 'premium' ? premiumFactor : 1
    return { registration: price.registration * factor, renewal: price.renewal * factor }
  }
  const checkName = async (name: string): Promise<Availability> => {
    const price = findPrice(name)
    if (!price) return { name, status: 'unknown', premium: false, price: null }
    const magic = findMagicName(name)
    const isUnavailable =
      magic === 'taken' || magic === 'redemption' || (await registryRepository.find(store.read, name)) !== undefined
    return { name, status: isUnavailable ? 'taken' : 'available', premium: magic === 'premium', price }
  }
  const changeDomain = createDomainChanges(store)
  const changeSetting = (name: string, setting: Partial<Pick<RegistryDomain, 'privacy' | 'locked' | 'nameservers'>>) =>
    changeDomain(name, (tx, domain) => registryRepository.change(tx, { ...domain, ...setting }))

  return {
    id: 'local',
    title: 'Test registry',
    isTest: true,
    recordTypes: dnsRecordTypes,
    settlesWithinMs: 0,
    nameservers: registryNameservers,
    prices: async () => prices,
    check: (names) => Promise.all(names.map(checkName)),
    async register({ name, years, privacy, nameservers, price }) {
      assertReachable(name)
      const magic = findMagicName(name)
      const present = findPrice(name)
      if (!present) {
        throw new RegistrarError('refused', 'The test registry does not offer this top-level domain.')
      }
      assertPrice(name, price, present)
      const atMs = now()
      const isFree = magic !== 'taken' && magic !== 'takenAtPurchase' && magic !== 'redemption'
      const isAdded =
        isFree &&
        (await store.write((tx) =>
          registryRepository.add(tx, {
            ...{ name, registeredAtMs: atMs, activeAtMs: magic === 'async' ? atMs + pendingMs : atMs },
            ...{ expiresAtMs: magic === 'expiring' ? atMs + expiringMs : addYears(atMs, years), privacy, locked: true },
            ...{ nameservers: nameservers ?? registryNameservers, serial: 1 },
          }),
        ))
      if (!isAdded) throw new RegistrarError('taken', `${name} is taken.`)
    },
    async renewalPrice(name) {
      await requireDomain(store.read, name)
      return findPrice(name)?.renewal ?? null
    },
    renew: ({ name, years, amountCents }) =>
      changeDomain(name, async (tx, domain) => {
        if ((findPrice(name)?.renewal ?? 0) * years > amountCents) {
          throw new RegistrarError('refused', `The renewal price of ${name} rose since the quote.`)
        }
        const expiresAtMs = addYears(Math.max(domain.expiresAtMs, now()), years)
        if (expiresAtMs > addYears(now(), maxYearsAhead)) {
          throw new RegistrarError('refused', `${name} can be renewed for at most ${maxYearsAhead} years from now.`)
        }
        await registryRepository.change(tx, { ...domain, expiresAtMs })
      }),
    async find(name) {
      assertReachable(name)
      const domain = await registryRepository.find(store.read, name)
      return domain && toDomain(domain, now())
    },
    setPrivacy: (name, privacy) => changeSetting(name, { privacy }),
    setLocked: (name, locked) => changeSetting(name, { locked }),
    async authCode(name) {
      if ((await requireDomain(store.read, name)).locked) {
        throw new RegistrarError('refused', `${name} is locked. Unlock it first.`)
      }
      return { code: randomBytes(9).toString('base64url') } // accepted nowhere, because there is no other test registry
    },
    setNameservers: (name, nameservers) => changeSetting(name, { nameservers }),
    ...createRecordOperations(store, changeDomain),
  }
}

function assertReachable(name: string): void {
  if (findMagicName(name) === 'down') throw new RegistrarError('unreachable', 'The registrar did not respond.')
}

/** @throws RegistrarError `unreachable`, `refused` */
async function requireDomain(query: Query, name: string): Promise<RegistryDomain> {
  assertReachable(name)
  return assertRegistered(name, await registryRepository.find(query, name))
}

function assertRegistered(name: string, domain: RegistryDomain | undefined): RegistryDomain {
  if (domain) return domain
  throw new RegistrarError('refused', `${name} is not registered here.`)
}

/** Runs `work` with the domain locked. Its serial number increases, unless `work` throws. */
type ChangeDomain = (name: string, work: (tx: Transaction, domain: RegistryDomain) => Promise<void>) => Promise<void>

function createDomainChanges(store: Store): ChangeDomain {
  return async (name, work) => {
    assertReachable(name)
    await store.write(
      async (tx) => work(tx, assertRegistered(name, await registryRepository.beginChange(tx, name))),
      { isolation: 'read committed' }, // the first statement locks the domain
    )
  }
}

function createRecordOperations(
  store: Store,
  changeDomain: ChangeDomain,
): Pick<Registrar, 'records' | 'addRecord' | 'changeRecord' | 'removeRecord'> {
  const noRecord = (id: string) => new RegistrarError('refused', `There is no DNS record ${id}.`)
  return {
    async records(name) {
      await requireDomain(store.read, name)
      return registryRepository.listRecords(store.read, name)
    },
    async addRecord(name, record) {
      const id = `rec_${randomBytes(12).toString('hex')}`
      await changeDomain(name, (tx) => registryRepository.addRecord(tx, name, { ...record, id }))
      return id
    },
    async changeRecord(name, id, record) {
      const changed: RegistrarRecord = { ...record, id }
      await changeDomain(name, async (tx) => {
        if (!(await registryRepository.changeRecord(tx, name, changed))) throw noRecord(id)
      })
      return id
    },
    removeRecord: (name, id) =>
      changeDomain(name, async (tx) => {
        if (!(await registryRepository.removeRecord(tx, name, id))) throw noRecord(id)
      }),
  }
}

function toDomain({ serial: _, activeAtMs, ...domain }: RegistryDomain, nowMs: number): RegistrarDomain {
  const status = nowMs < activeAtMs ? 'pending' : nowMs >= domain.expiresAtMs ? 'expired' : 'active'
  return { ...domain, status, autoRenew: false }
}

/** Returns the same day a number of years later. */
function addYears(ms: number, years: number): number {
  const date = new Date(ms)
  return date.setUTCFullYear(date.getUTCFullYear() + years)
}

function findMagicName(name: string): MagicName | undefined {
  // `Object.keys` returns exactly these keys
  const matching = (Object.keys(magicNames) as MagicName[]).filter((it) => name.startsWith(magicNames[it]))
  return matching.sort((a, b) => magicNames[b].length - magicNames[a].length)[0]
}
