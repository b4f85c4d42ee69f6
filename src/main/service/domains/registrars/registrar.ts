import type { DnsRecordData, DnsRecordType } from '#shared/dns/dnsRecord.ts'

/** Id as stored in the database. */
export type RegistrarId = 'local' | 'namesilo' | 'name.com'

/** US cents for one year. */
export type TldPrice = { tld: string; registration: number; renewal: number; transfer: number }

/** US cents of the first year, and of each later one. */
export type NamePrice = { registration: number; renewal: number }

export type Availability = {
  name: string
  status: 'available' | 'taken' | 'unknown'
  premium: boolean
  /** Null if unknown. */
  price: NamePrice | null
}

export type RegistrarDomain = {
  name: string
  status: 'active' | 'expired' | 'pending'
  registeredAtMs: number
  expiresAtMs: number
  autoRenew: boolean
  privacy: boolean
  locked: boolean
  nameservers: readonly string[]
}

export type RegistrarRecord = DnsRecordData & { id: string }

export type Registration = {
  name: string
  years: number
  privacy: boolean
  /** Name servers; absent for those of the registrar, which then hosts the zone. */
  nameservers: readonly string[] | undefined
  /** Maximum price: a name that costs more now is not bought. */
  price: NamePrice
}

export type Renewal = {
  name: string
  years: number
  /** US cents of all years, as promised. */
  amountCents: number
}

/** Code for a transfer to another registrar; null if the registrar sends it to the owner's address. */
export type AuthCode = { code: string | null }

/**
 * Registrar of domains. Names are ASCII and lower case.
 *
 * Every call rejects with a `RegistrarFailure`. `register` and `renew` cost money each time: if the outcome of one is
 * unknown, use `find` and never repeat it.
 */
export interface Registrar {
  readonly id: RegistrarId
  /** For people: `Test registry`, `NameSilo`. */
  readonly title: string
  /** Whether names exist at this service only. */
  readonly isTest: boolean
  /** Record types that its zones support. */
  readonly recordTypes: readonly DnsRecordType[]
  /** An order that `find` does not know of so long after it was placed came to nothing. */
  readonly settlesWithinMs: number
  /** Name servers that serve the records below. A leading dot matches all subdomains; absent if unknown. */
  readonly nameservers?: readonly string[]
  prices(signal?: AbortSignal): Promise<readonly TldPrice[]>
  /** In the order asked. What cannot be found out is `unknown`, never `available`. */
  check(names: readonly string[], signal?: AbortSignal): Promise<readonly Availability[]>
  register(order: Registration): Promise<void>
  renew(order: Renewal): Promise<void>
  /** Price in US cents of one year of this account's domain; null if unknown. */
  renewalPrice(name: string): Promise<number | null>
  /** Returns undefined if the account at the registrar does not have it. */
  find(name: string): Promise<RegistrarDomain | undefined>
  setPrivacy(name: string, enabled: boolean): Promise<void>
  setLocked(name: string, locked: boolean): Promise<void>
  /** Returns the code of an unlocked domain. */
  authCode(name: string): Promise<AuthCode>
  setNameservers(name: string, nameservers: readonly string[]): Promise<void>
  /** All of them. A reading that fails is a failure, never an empty zone. */
  records(name: string): Promise<readonly RegistrarRecord[]>
  /** @returns its id */
  addRecord(name: string, record: DnsRecordData): Promise<string>
  /** @returns its id, which may be a new one */
  changeRecord(name: string, id: string, record: DnsRecordData): Promise<string>
  removeRecord(name: string, id: string): Promise<void>
}

/**
 * - `unreachable`: it was not asked, or did nothing: try again
 * - `unclear`: it was asked, and nobody knows whether it did it
 * - `taken`: somebody else has the name
 * - `refused`: for the reason of the message, which is for the caller
 * - `unsupported`: this registrar does not offer it
 */
export class RegistrarFailure extends Error {
  readonly kind: 'unreachable' | 'unclear' | 'taken' | 'refused' | 'unsupported'

  constructor(kind: RegistrarFailure['kind'], message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'RegistrarFailure'
    this.kind = kind
  }
}

/** @throws RegistrarFailure `refused` for a name that costs more than was promised */
export function assertPrice(name: string, promised: NamePrice, present: NamePrice): void {
  if (present.registration <= promised.registration && present.renewal <= promised.renewal) return
  throw new RegistrarFailure('refused', `${name} costs more by now than it was offered for.`)
}
