import type { Log } from '#platform/logging/log.ts'
import type { ListenAddress } from '#platform/net/listenAddress.ts'
import type { TimeSource } from '#platform/time/timeSource.ts'
import type { DefaultNetwork } from '#shared/contract/sandboxes.ts'
import type { NewWallets } from '../auth/signIns.ts'
import type { RegistrarOptions } from '../domains/registrars/registrar.ts'
import type { RateLimitNumbers } from '../http/rateLimits.ts'
import type { ResponseLimits } from '../http/responseBudget.ts'
import type { InferenceOptions } from '../inference/providers/providerSettings.ts'
import type { PaymentOptions } from '../payments/paymentOptions.ts'

export type ServiceOptions = {
  /** Folder of `service.sqlite` and `owner.key`. Created if it is missing. */
  dataDir: string
  /** Whether the SQLite database is checked for damage before it is opened. Default: false. */
  checkData?: boolean
  /** URL of a PostgreSQL database. Default: SQLite in `dataDir`. */
  databaseUrl?: string | undefined
  /** Port 0 selects a free port. An address beyond loopback requires `tls` or `insecureBehindProxy`. */
  listen: ListenAddress
  /** Socket for the application of the same OS user, inaccessible to other users. Default: none. */
  privateSocketPath?: string | undefined
  /** Contents of the files, in PEM. */
  tls?: { cert: string; key: string } | undefined
  insecureBehindProxy?: boolean | undefined
  /** Public URL, such as `https://steward.example`. Default: the address of the service. */
  publicUrl?: string | undefined
  /** Host name suffix of exposed ports, with TLS in front. Without it they are served below `localhost`. */
  sandboxHost?: string | undefined
  /** Domains accepted in sign-in messages, besides the host of the request. */
  signInDomains?: readonly string[] | undefined
  /**
   * host:port of the applications that forward requests to this service, as they become known. Sign-in messages for
   * them are accepted too.
   */
  ownFronts?: (() => readonly string[]) | undefined
  /** Treatment of wallets without an account. Default: `welcome`. */
  newWallets?: NewWallets | undefined
  /** Credential of the user at the application's window, once available. */
  personKey?: (() => string | undefined) | undefined
  /** Overrides of the default rate limits. */
  rateLimits?: Partial<RateLimitNumbers> | undefined
  answerLimits?: Partial<ResponseLimits> | undefined
  /** Names of runtimes, the preferred one first. */
  runtimes: readonly string[]
  /** Folder of the built user interface, for terminal links. */
  pagesFolder?: string | undefined
  version: string
  hostSocketPath: string
  /** Starts a sandbox host if none listens on that socket. */
  launchHost: () => Promise<void>
  /** Time that calls wait for a lost host to return, in milliseconds. */
  hostWaitMs?: number | undefined
  defaultNetwork?: DefaultNetwork | undefined
  /** Interval of the check for idle sandboxes, in milliseconds. */
  idleCheckMs?: number | undefined
  maxActiveSandboxes?: number | undefined
  /** Name of the EIP-712 domain for automaton registrations. */
  identityDomainName?: string | undefined
  /** File of tiers and prices. Default: the built-in list. */
  pricesFile?: string | undefined
  /** Initial credits of the owner's account, issued once. Default: $10. */
  ownerStartCents?: number | undefined
  /** Whether running sandboxes are charged. Default: false. */
  chargeSandboxes?: boolean | undefined
  /** Address of the DNS server for zones of the test registry. Default: none. */
  dnsListen?: ListenAddress | undefined
  /** Registrar. Default: the test registry. */
  registrar?: RegistrarOptions | undefined
  /** File of IANA's list of RDAP servers. Default: the built-in list. */
  rdapBootstrapFile?: string | undefined
  /** DNS servers that verify domains. Default: those of the system. */
  resolvers?: readonly string[] | undefined
  /** Model providers. Default: none. */
  inference?: InferenceOptions | undefined
  /** Payments accepted. Default: none. */
  payments?: PaymentOptions | undefined
  log: Log
  now: () => number
  /** Clocks of this computer. Default: elapsed time is derived from `now`. */
  time?: TimeSource | undefined
}
