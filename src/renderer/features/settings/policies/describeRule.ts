import type { PolicyRule } from '#shared/contract/intents.ts'

/** Returns warnings to show before the rule is saved. */
export function findRuleWarnings(rule: PolicyRule, before: readonly PolicyRule[]): string[] {
  const covering = before.findIndex((earlier) => isCoveredBy(earlier, rule))
  return [
    ...(covering < 0 ? [] : [`Never applies: rule ${covering + 1} matches all of this first.`]),
    ...(isWithoutHost(rule.kind) && rule.host !== '*' ? ['Never applies: these requests have no host. Use *.'] : []),
    ...(rule.effect === 'allow' ? allowWarnings(rule) : []),
  ]
}

function isWithoutHost(kind: PolicyRule['kind']): boolean {
  return kind === 'identity.register' || kind === 'message' || kind === 'tool.call'
}

function allowWarnings({ kind, requester, host, max_amount_micro_usd: maxAmount }: PolicyRule): string[] {
  const pays = kind === 'x402.authorize' || kind === '*'
  const signsIn = kind === 'siwe' || kind === 'siws' || kind === '*'
  return [
    ...(pays && maxAmount === null
      ? ['Payments up to your extra-confirmation limit go through unasked. Set an amount.']
      : []),
    ...(signsIn && host === '*' && requester !== 'person'
      ? ['Programs can sign in to any site as you. Name the hosts you trust.']
      : []),
    ...(kind === 'message' && requester !== 'person' ? ['Only you can sign messages. Rules can’t change this.'] : []),
    ...(kind === 'tool.call' ? ['Tools can delete sandboxes and DNS records without asking you.'] : []),
    ...(kind === 'identity.register' && requester !== 'person'
      ? ['Registrations are permanent and happen without your review.']
      : []),
  ]
}

/** Whether every request that matches `rule` also matches `earlier`. */
function isCoveredBy(earlier: PolicyRule, rule: PolicyRule): boolean {
  return (
    (earlier.kind === '*' || earlier.kind === rule.kind) &&
    (earlier.requester === '*' || earlier.requester === rule.requester) &&
    isHostCovered(earlier, rule.host) &&
    isAmountCovered(earlier.max_amount_micro_usd, rule.max_amount_micro_usd)
  )
}

function isHostCovered({ host: earlier, effect }: PolicyRule, host: string): boolean {
  const [pattern, hostText] = [earlier.toLowerCase(), host.toLowerCase()]
  if (pattern === '*' || pattern === hostText) return true
  // A denied host is denied on all ports.
  const name = effect === 'deny' && !hasPort(pattern) ? hostText.replace(port, '') : hostText
  // Includes the dot: `*.example.com` matches subdomains of example.com, but not example.com itself.
  return pattern.startsWith('*.') ? hostText !== '*' && name.endsWith(pattern.slice(1)) : name === pattern
}

const port = /:\d+$/

function hasPort(host: string): boolean {
  return port.test(host)
}

function isAmountCovered(earlier: string | null, amount: string | null): boolean {
  return earlier === null || (amount !== null && BigInt(earlier) >= BigInt(amount))
}
