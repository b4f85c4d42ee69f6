import type { PolicyRule } from '../../../../shared/contract/intents.ts'

/** What a person should know before such a rule holds. */
export function ruleWarnings(rule: PolicyRule, before: readonly PolicyRule[]): string[] {
  const covering = before.findIndex((earlier) => covers(earlier, rule))
  return [
    ...(covering < 0 ? [] : [`It never decides: rule ${covering + 1} fits all of this before it.`]),
    ...(namesNoHost(rule.kind) && rule.host !== '*'
      ? ['It never decides: what it is about names no host. Write *.']
      : []),
    ...(rule.effect === 'allow' ? allowWarnings(rule) : []),
  ]
}

function namesNoHost(kind: PolicyRule['kind']): boolean {
  return kind === 'identity.register' || kind === 'message'
}

function allowWarnings({ kind, asker, host, max_amount_micro_usd: most }: PolicyRule): string[] {
  const pays = kind === 'x402.authorize' || kind === '*'
  const signsIn = kind === 'siwe' || kind === 'siws' || kind === '*'
  return [
    ...(pays && most === null
      ? ['Whatever is not above your threshold is paid without a question: set an amount.']
      : []),
    ...(signsIn && host === '*' && asker !== 'person'
      ? ['Any site can be signed in to as you: name the hosts you trust.']
      : []),
    ...(kind === 'message' && asker !== 'person' ? ['Messages are signed for you alone, whatever a rule says.'] : []),
    ...(kind === 'identity.register' && asker !== 'person'
      ? ['What is registered can never be changed, and nobody looks at it first.']
      : []),
  ]
}

/** Whether all that fits `rule` fits `earlier` too. */
function covers(earlier: PolicyRule, rule: PolicyRule): boolean {
  return (
    (earlier.kind === '*' || earlier.kind === rule.kind) &&
    (earlier.asker === '*' || earlier.asker === rule.asker) &&
    hostCovers(earlier, rule.host) &&
    amountCovers(earlier.max_amount_micro_usd, rule.max_amount_micro_usd)
  )
}

function hostCovers({ host: earlier, effect }: PolicyRule, host: string): boolean {
  const [pattern, given] = [earlier.toLowerCase(), host.toLowerCase()]
  if (pattern === '*' || pattern === given) return true
  // Who refuses a host refuses all of its ports.
  const name = effect === 'deny' && !hasPort(pattern) ? given.replace(port, '') : given
  // With its dot: `*.example.com` fits what is below example.com, and not example.com itself.
  return pattern.startsWith('*.') ? given !== '*' && name.endsWith(pattern.slice(1)) : name === pattern
}

const port = /:\d+$/

function hasPort(host: string): boolean {
  return port.test(host)
}

function amountCovers(earlier: string | null, most: string | null): boolean {
  return earlier === null || (most !== null && BigInt(earlier) >= BigInt(most))
}
