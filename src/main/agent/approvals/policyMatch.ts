import type { IntentKind, PolicyRule, RequesterKind } from '#shared/contract/intents.ts'

/** Fields of an intent that rules match. */
export type PolicySubject = {
  kind: IntentKind
  requesterKind: RequesterKind
  /** Null if the intent concerns no site. */
  host: string | null
  /** Null if no money moves. */
  amountMicroUsd: bigint | null
}

export function findFirstRule(rules: readonly PolicyRule[], subject: PolicySubject): PolicyRule | undefined {
  return rules.find((rule) => isRuleMatch(rule, subject))
}

export function isRuleMatch(rule: PolicyRule, subject: PolicySubject): boolean {
  return (
    matchesKind(rule, subject.kind) &&
    (rule.requester === '*' || rule.requester === subject.requesterKind) &&
    isWithinAmount(rule, subject.amountMicroUsd) &&
    matchesHost(rule, subject.host)
  )
}

/** A rule for any kind does not allow destructive tools, which are allowed only by name. */
function matchesKind({ kind, effect }: PolicyRule, subject: IntentKind): boolean {
  return kind === subject || (kind === '*' && (effect !== 'allow' || subject !== 'tool.call'))
}

/** An intent that moves no money is within every limit. */
function isWithinAmount({ max_amount_micro_usd: limit }: PolicyRule, amount: bigint | null): boolean {
  return limit === null || amount === null || amount <= BigInt(limit)
}

function matchesHost({ host: pattern, effect }: PolicyRule, host: string | null): boolean {
  if (host === null) return pattern === '*'
  const location = parseHost(host)
  // A host that cannot be parsed matches no allow rule and every deny rule.
  if (!location) return effect !== 'allow'
  if (pattern === '*') return true
  const below = pattern.startsWith('*.')
  const patternHost = parseHost(below ? pattern.slice(2) : pattern)
  if (!patternHost) return effect !== 'allow'
  const named = below ? location.name.endsWith(`.${patternHost.name}`) : location.name === patternHost.name
  // A denied host is denied on all ports; an allowed host only on the named port.
  const anyPort = effect === 'deny' && patternHost.port === ''
  // A host is named without the default port of its scheme, which is one of these.
  const schemePort = effect !== 'allow' && location.port === '' && ['443', '80'].includes(patternHost.port)
  return named && (anyPort || schemePort || location.port === patternHost.port)
}

/** Whether the pattern can match any host. */
export function isHostPattern(pattern: string): boolean {
  return pattern === '*' || parseHost(pattern.replace(/^\*\./, '')) !== undefined
}

type HostPort = { name: string; port: string }

function parseHost(host: string): HostPort | undefined {
  const [, name, port] = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(host) ?? []
  // Normalizes like the address of an intent: `127.1` becomes 127.0.0.1, and an IPv6 address has one short form.
  const hostname = name === undefined ? undefined : URL.parse(`http://${name}`)?.hostname
  return hostname === undefined ? undefined : { name: hostname.replace(/\.$/, ''), port: port ?? '' }
}
