import type { DnsRecordData, DnsRecordType } from '#shared/dns/dnsRecord.ts'

/** Configured registrar. `kind` is its id as stored in the database. */
export type RegistrarOptions =
  | { kind: 'local' }
  | ({ kind: 'namesilo'; apiKey: string; paymentId: string | undefined } & RemoteRegistrarOptions)
  | ({ kind: 'name.com'; username: string; token: string } & RemoteRegistrarOptions)

type RemoteRegistrarOptions = {
  url: string
  /** Whether orders cost real money. False for a sandbox environment or a server on this computer. */
  isReal: boolean
  settlesWithinMs: number
}

export type RegistrarId = RegistrarOptions['kind']

/** US cents for one year. */
export type TldPrice = { tld: string; registration: number; renewal: number; transfer: number }

/** US cents for the first year, and for each later one. */
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

export type DomainRegistration = {
  name: string
  years: number
  privacy: boolean
  /** Name servers of the domain. Undefined for those of the registrar, which then hosts the zone. */
  nameservers: readonly string[] | undefined
  /** Maximum price. A name that now costs more is not bought. */
  price: NamePrice
}

export type Renewal = {
  name: string
  years: number
  /** Total price of all years in US cents, as quoted. */
  amountCents: number
}

/** Code for a transfer to another registrar. Null if the registrar sends it to the owner's email address. */
export type AuthCode = { code: string | null }

/**
 * Registrar of domains. Names are ASCII and lower case. Every call rejects with a `RegistrarError`. `register` and
 * `renew` charge for each call: if the outcome of one is unknown, use `find` and never repeat the call.
 */
export interface Registrar {
  readonly id: RegistrarId
  /** Name for display: `Test registry`, `NameSilo`. */
  readonly title: string
  /** Whether names exist only at this service. */
  readonly isTest: boolean
  /** Record types that its zones support. */
  readonly recordTypes: readonly DnsRecordType[]
  /** Time after which an order failed if `find` does not return its domain. */
  readonly settlesWithinMs: number
  /** Name servers that serve the records below. A leading dot matches all subdomains. Undefined if unknown. */
  readonly nameservers?: readonly string[]
  prices(signal?: AbortSignal): Promise<readonly TldPrice[]>
  /** Returns results in the order of the names. A name with an undetermined state is `unknown`, never `available`. */
  check(names: readonly string[], signal?: AbortSignal): Promise<readonly Availability[]>
  register(order: DomainRegistration): Promise<void>
  renew(order: Renewal): Promise<void>
  /** Price in US cents for one year of a domain in this account. Null if unknown. */
  renewalPrice(name: string): Promise<number | null>
  /** @returns undefined if the registrar account does not have the domain */
  find(name: string): Promise<RegistrarDomain | undefined>
  setPrivacy(name: string, enabled: boolean): Promise<void>
  setLocked(name: string, locked: boolean): Promise<void>
  /** Returns the transfer code of an unlocked domain. */
  authCode(name: string): Promise<AuthCode>
  setNameservers(name: string, nameservers: readonly string[]): Promise<void>
  /** Lists all records. Rejects if they cannot be read; never returns an empty zone instead. */
  records(name: string): Promise<readonly RegistrarRecord[]>
  /** @returns the id of the record */
  addRecord(name: string, record: DnsRecordData): Promise<string>
  /** @returns the id of the record, which may have changed */
  changeRecord(name: string, id: string, record: DnsRecordData): Promise<string>
  removeRecord(name: string, id: string): Promise<void>
}

/**
 * - `unreachable`: the registrar was not called or did nothing; the call may be repeated
 * - `unclear`: the registrar was called and the outcome is unknown
 * - `taken`: the name is registered by another account
 * - `refused`: for the reason in the message, which is shown to the caller
 * - `unsupported`: the registrar does not offer the operation
 */
export class RegistrarError extends Error {
  readonly kind: 'unreachable' | 'unclear' | 'taken' | 'refused' | 'unsupported'

  constructor(kind: RegistrarError['kind'], message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'RegistrarError'
    this.kind = kind
  }
}

/** @throws RegistrarError `refused` if the name costs more than quoted */
export function assertPrice(name: string, promised: NamePrice, present: NamePrice): void {
  if (present.registration <= promised.registration && present.renewal <= promised.renewal) return
  throw new RegistrarError('refused', `The price of ${name} rose since the quote.`)
}
