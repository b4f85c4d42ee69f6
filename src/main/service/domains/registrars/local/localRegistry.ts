import { randomBytes } from 'node:crypto'
import { dnsRecordTypes } from '#shared/dns/dnsRecord.ts'
import { parseDomainName } from '../../domainName.ts'
import {
  type Availability,
  assertPrice,
  type Registrar,
  type RegistrarDomain,
  RegistrarError,
  type RegistrarRecord,
  type TldPrice,
} from '../registrar.ts'
import type { RegistryDomain, RegistryRepository } from './registryRepository.ts'

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
  records: RegistryRepository
  prices: readonly TldPrice[]
  now: () => number
}): Registrar {
  const { records, prices, now } = options
  const priceOf = new Map(prices.map((price) => [price.tld, price]))

  const availability = (name: string): Availability => {
    const magic = findMagicName(name)
    const price = priceOf.get(parseDomainName(name).tld)
    if (!price || magic === 'down') return { name, status: 'unknown', premium: false, price: null }
    const premium = magic === 'premium'
    const factor = premium ? premiumFactor : 1
    const isUnavailable = magic === 'taken' || magic === 'redemption' || records.find(name) !== undefined
    return {
      name,
      status: isUnavailable ? 'taken' : 'available',
      premium,
      price: { registration: price.registration * factor, renewal: price.renewal * factor },
    }
  }
  const assertReachable = (name: string): void => {
    if (findMagicName(name) === 'down') throw new RegistrarError('unreachable', 'The registrar did not respond.')
  }
  const requireDomain = (name: string): RegistryDomain => {
    assertReachable(name)
    const domain = records.find(name)
    if (domain) return domain
    throw new RegistrarError('refused', `${name} is not registered here.`)
  }

  return {
    id: 'local',
    title: 'Test registry',
    isTest: true,
    recordTypes: dnsRecordTypes,
    settlesWithinMs: 0,
    nameservers: registryNameservers,
    prices: async () => prices,
    check: async (names) => names.map(availability),
    async register({ name, years, privacy, nameservers, price }) {
      assertReachable(name)
      const magic = findMagicName(name)
      const present = availability(name).price
      if (!present) {
        throw new RegistrarError('refused', 'The test registry does not offer this top-level domain.')
      }
      assertPrice(name, price, present)
      const atMs = now()
      const isFree = magic !== 'taken' && magic !== 'takenAtPurchase' && magic !== 'redemption'
      const isAdded =
        isFree &&
        records.add({
          ...{ name, registeredAtMs: atMs, activeAtMs: magic === 'async' ? atMs + pendingMs : atMs },
          ...{ expiresAtMs: magic === 'expiring' ? atMs + expiringMs : addYears(atMs, years), privacy, locked: true },
          ...{ nameservers: nameservers ?? registryNameservers, serial: 1 },
        })
      if (!isAdded) throw new RegistrarError('taken', `${name} is taken.`)
    },
    async renewalPrice(name) {
      requireDomain(name)
      return availability(name).price?.renewal ?? null
    },
    async renew({ name, years, amountCents }) {
      const { expiresAtMs } = requireDomain(name)
      if ((availability(name).price?.renewal ?? 0) * years > amountCents) {
        throw new RegistrarError('refused', `The renewal price of ${name} rose since the quote.`)
      }
      const renewedAtMs = addYears(Math.max(expiresAtMs, now()), years)
      if (renewedAtMs > addYears(now(), maxYearsAhead)) {
        throw new RegistrarError('refused', `${name} can be renewed for at most ${maxYearsAhead} years from now.`)
      }
      records.change(name, { expiresAtMs: renewedAtMs })
    },
    async find(name) {
      assertReachable(name)
      const domain = records.find(name)
      return domain && toDomain(domain, now())
    },
    async setPrivacy(name, privacy) {
      requireDomain(name)
      records.change(name, { privacy })
    },
    async setLocked(name, locked) {
      requireDomain(name)
      records.change(name, { locked })
    },
    async authCode(name) {
      if (requireDomain(name).locked) throw new RegistrarError('refused', `${name} is locked. Unlock it first.`)
      return { code: randomBytes(9).toString('base64url') } // accepted nowhere, because there is no other test registry
    },
    async setNameservers(name, nameservers) {
      requireDomain(name)
      records.change(name, { nameservers })
    },
    ...createRecordOperations(records, requireDomain),
  }
}

function createRecordOperations(
  records: RegistryRepository,
  requireDomain: (name: string) => RegistryDomain,
): Pick<Registrar, 'records' | 'addRecord' | 'changeRecord' | 'removeRecord'> {
  const noRecord = (id: string) => new RegistrarError('refused', `There is no DNS record ${id}.`)
  return {
    async records(name) {
      requireDomain(name)
      return records.records(name)
    },
    async addRecord(name, record) {
      requireDomain(name)
      const id = `rec_${randomBytes(12).toString('hex')}`
      records.addRecord(name, { ...record, id })
      return id
    },
    async changeRecord(name, id, record) {
      requireDomain(name)
      const changed: RegistrarRecord = { ...record, id }
      if (!records.changeRecord(name, changed)) throw noRecord(id)
      return id
    },
    async removeRecord(name, id) {
      requireDomain(name)
      if (!records.removeRecord(name, id)) throw noRecord(id)
    },
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
