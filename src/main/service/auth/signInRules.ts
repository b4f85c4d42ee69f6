import { authLimits } from '#shared/contract/auth.ts'
import { evmNetworks } from '#shared/contract/networks.ts'
import type { SignInMessage } from '#shared/signInMessage.ts'

/** Allowed difference between the clocks of client and service. */
const skewMs = 60_000
const solanaClusters = ['mainnet', 'testnet', 'devnet'].flatMap((value) => [value, `solana:${value}`])
/**
 * CAIP-2 ids of the same three clusters, which are their genesis hashes:
 * https://namespaces.chainagnostic.org/solana/caip2
 */
const solanaHashes = [
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSGkcKh',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
]
const chainIds = {
  evm: evmNetworks.map(({ chainId }) => String(chainId)),
  solana: [...solanaClusters, ...solanaHashes],
}

export type SignInAudience = {
  /** The request's Host header if it names this service, otherwise empty. */
  host: string
  /** Public names of the service and the configured sign-in domains. */
  domains: readonly string[]
}

/** Checks that the message is for this service and currently valid. Does not check the signature. */
export function isValidForService(
  message: SignInMessage,
  expected: { audience: SignInAudience; nonceExpiresAtMs: number; nowMs: number },
): boolean {
  const { chainType, fields, domain } = message
  const { uri, chainId } = fields
  if (chainId !== undefined && !chainIds[chainType].includes(chainId)) return false
  return isForService({ domain, uri }, expected.audience) && isNow(message, expected)
}

function isNow({ fields }: SignInMessage, expected: { nonceExpiresAtMs: number; nowMs: number }): boolean {
  const { nowMs } = expected
  const times = [fields.issuedAt, fields.expirationTime, fields.notBefore].map(parseTime)
  if (times.some((it) => Number.isNaN(it))) return false
  const [issuedAtMs = nowMs, expiresAtMs, notBeforeMs] = times
  const nonceCreatedAtMs = expected.nonceExpiresAtMs - authLimits.nonceMs
  return (
    issuedAtMs <= nowMs + skewMs &&
    issuedAtMs >= nonceCreatedAtMs - skewMs &&
    (expiresAtMs === undefined || expiresAtMs > nowMs) &&
    (notBeforeMs === undefined || notBeforeMs <= nowMs)
  )
}

/** @returns NaN for an invalid date */
function parseTime(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}

/**
 * Many clients omit the port from the domain. Their URI must then contain it, because other ports belong to other
 * services.
 */
function isForService({ domain, uri }: { domain: string; uri: string | undefined }, audience: SignInAudience): boolean {
  const here = audience.host.toLowerCase()
  if (uri === undefined) return domain === here || audience.domains.includes(domain)
  return [here, stripPort(here), ...audience.domains].includes(domain) && isOwnAddress(uri, { ...audience, host: here })
}

/**
 * Clients of a hosted service use the URI of a page below its domain: `https://api.example.com/…` for `example.com`.
 */
function isOwnAddress(uri: string, { host: here, domains }: SignInAudience): boolean {
  if (!URL.canParse(uri)) return false
  const { protocol, host, hostname } = new URL(uri)
  if (protocol !== 'https:' && protocol !== 'http:') return false
  return host === here || domains.some((domain) => [host, hostname].includes(domain) || hostname.endsWith(`.${domain}`))
}

function stripPort(host: string): string {
  return host.replace(/:\d+$/, '')
}
