import type { ListenAddress } from '#platform/listenAddress.ts'
import type { Log } from '#platform/log.ts'
import type { TimeSource } from '#platform/timeSource.ts'
import type { DefaultNetwork } from '#shared/contract/sandboxes.ts'
import type { NewWallets } from '../auth/signIns.ts'
import type { RegistrarOptions } from '../domains/registrars/registrarOptions.ts'
import type { AnswerLimits } from '../http/answerBudget.ts'
import type { RateLimitNumbers } from '../http/rateLimits.ts'
import type { InferenceOptions } from '../inference/providerSettings.ts'
import type { PaymentOptions } from '../payments/paymentOptions.ts'

export type ServiceOptions = {
  /** Holds `service.sqlite` and `owner.key`; made when it is not there. */
  dataDir: string
  /** Whether the database is checked for damage before it is opened. Default: false. */
  checkData?: boolean
  /** Port 0 lets the system choose. Beyond loopback it needs `tls` or `insecureBehindProxy`. */
  listen: ListenAddress
  /** Socket for the application of the same user, unreachable for other users. Default: none. */
  privateSocketPath?: string | undefined
  /** The contents of the files, in PEM. */
  tls?: { cert: string; key: string } | undefined
  insecureBehindProxy?: boolean | undefined
  /** Under which others reach it, e.g. `https://steward.example`; absent is its own address. */
  publicUrl?: string | undefined
  /** Suffix of the addresses of exposed ports, with TLS in front; without one they are below `localhost`. */
  sandboxHost?: string | undefined
  /** Domains for which sign-in messages are taken, beside the address that a request came to. */
  signInDomains?: readonly string[] | undefined
  /** host:port of the applications that hand requests on to it, as they become known; signing in works there too. */
  ownFronts?: (() => readonly string[]) | undefined
  /** Treatment of wallets without an account. Default: `welcome`. */
  newWallets?: NewWallets | undefined
  /** Credential of the user at the application's window, once it is known. */
  personKey?: (() => string | undefined) | undefined
  /** In the place of the usual ones. */
  rateLimits?: Partial<RateLimitNumbers> | undefined
  answerLimits?: Partial<AnswerLimits> | undefined
  /** Names of runtimes, the preferred one first. */
  runtimes: readonly string[]
  /** The built interface, for terminal links. */
  pagesFolder?: string | undefined
  version: string
  hostSocketPath: string
  /** Starts a sandbox host if none listens on that socket. */
  launchHost: () => Promise<void>
  /** Time that calls wait for a lost host to return, in milliseconds. */
  hostWaitMs?: number | undefined
  /** Default network of sandboxes. */
  defaultNetwork?: DefaultNetwork | undefined
  /** Interval of the check for idle sandboxes, in milliseconds. */
  idleCheckMs?: number | undefined
  /** Number of sandboxes that may run at once. */
  maxActiveSandboxes?: number | undefined
  /** Name of the EIP-712 domain that automatons are registered for. */
  identityDomainName?: string | undefined
  /** File of tiers and prices. Default: the built-in list. */
  pricesFile?: string | undefined
  /** The credits that the account of the owner begins with, once; absent is $10. */
  ownerStartCents?: number | undefined
  /** Whether running sandboxes are charged; absent is not. */
  chargeSandboxes?: boolean | undefined
  /** Address of the DNS server for zones of the test registry. Default: none. */
  dnsListen?: ListenAddress | undefined
  /** Registrar. Default: the test registry. */
  registrar?: RegistrarOptions | undefined
  /** File of IANA's list of RDAP servers. Default: the built-in list. */
  rdapBootstrapFile?: string | undefined
  /** DNS servers that are asked for proofs of domains; absent is those of the system. */
  resolvers?: readonly string[] | undefined
  /** Providers of models; absent is none. */
  inference?: InferenceOptions | undefined
  /** Payments accepted. Default: none. */
  payments?: PaymentOptions | undefined
  log: Log
  now: () => number
  /** Clocks of this computer; absent: time passes as `now` says. */
  time?: TimeSource | undefined
}
