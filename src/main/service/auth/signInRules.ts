import { authLimits } from '#shared/contract/auth.ts'
import { evmNetworks } from '#shared/contract/networks.ts'
import type { SignInMessage } from '#shared/signInMessage.ts'

/** Allowed difference between two machines' clocks. */
const skewMs = 60_000
const solanaClusters = ['mainnet', 'testnet', 'devnet'].flatMap((it) => [it, `solana:${it}`])
/** CAIP-2 of the same three, by their genesis hashes: https://namespaces.chainagnostic.org/solana/caip2 */
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
  /** The service's public names, and those of the configuration. */
  domains: readonly string[]
}

/** Checks everything but the signature: that the message is for this service, and valid now. */
export function isForHereAndNow(
  message: SignInMessage,
  expected: { audience: SignInAudience; nonceExpiresAtMs: number; nowMs: number },
): boolean {
  const { chainType, fields, domain } = message
  const { uri, chainId } = fields
  if (chainId !== undefined && !chainIds[chainType].includes(chainId)) return false
  return isForHere({ domain, uri }, expected.audience) && isNow(message, expected)
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

/** @returns NaN for a time that no calendar has */
function parseTime(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}

/** Many clients omit the port from the domain. Then their URI must name it, since other ports are other services. */
function isForHere({ domain, uri }: { domain: string; uri: string | undefined }, audience: SignInAudience): boolean {
  const here = audience.host.toLowerCase()
  if (uri === undefined) return domain === here || audience.domains.includes(domain)
  return [here, stripPort(here), ...audience.domains].includes(domain) && isOwnAddress(uri, { ...audience, host: here })
}

/** Clients of a hosted service name a page below its domain: `https://api.example.com/…` for `example.com`. */
function isOwnAddress(uri: string, { host: here, domains }: SignInAudience): boolean {
  if (!URL.canParse(uri)) return false
  const { protocol, host, hostname } = new URL(uri)
  if (protocol !== 'https:' && protocol !== 'http:') return false
  return host === here || domains.some((domain) => [host, hostname].includes(domain) || hostname.endsWith(`.${domain}`))
}

function stripPort(host: string): string {
  return host.replace(/:\d+$/, '')
}
