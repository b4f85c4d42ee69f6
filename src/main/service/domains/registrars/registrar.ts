import type { DnsRecordData } from '../../../../shared/dns/dnsRecord.ts'

/** US cents for one year. */
export type TldPrice = { tld: string; registration: number; renewal: number; transfer: number }

export type Availability = {
  name: string
  status: 'available' | 'taken' | 'unknown'
  premium: boolean
  /** US cents of the first year and of each later one; null where it is not known. */
  price: { registration: number; renewal: number } | null
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
  /** Undefined: those of the registrar, which then serves the zone. */
  nameservers: readonly string[] | undefined
}

/**
 * Where names are registered. Names are in ASCII and lower case.
 *
 * Every call rejects with a `RegistrarFailure`. `register` and `renew` cost money each time: after one whose outcome is
 * not known, ask by `find` what became of it, never call it again.
 */
export interface Registrar {
  /** For people: `Test registry`, `NameSilo`. */
  readonly title: string
  /** Its names exist on this computer only. */
  readonly isTest: boolean
  /** They answer with the records below. One that begins with a dot stands for all below it; undefined: not known. */
  readonly nameservers?: readonly string[]
  prices(signal?: AbortSignal): Promise<readonly TldPrice[]>
  /** In the order asked. What cannot be found out is `unknown`, never `available`. */
  check(names: readonly string[], signal?: AbortSignal): Promise<readonly Availability[]>
  register(order: Registration): Promise<void>
  renew(name: string, years: number): Promise<void>
  /** Undefined where this account of the registrar does not have it. */
  find(name: string): Promise<RegistrarDomain | undefined>
  setPrivacy(name: string, enabled: boolean): Promise<void>
  setLocked(name: string, locked: boolean): Promise<void>
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
 */
export class RegistrarFailure extends Error {
  readonly kind: 'unreachable' | 'unclear' | 'taken' | 'refused'

  constructor(kind: RegistrarFailure['kind'], message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'RegistrarFailure'
    this.kind = kind
  }
}
