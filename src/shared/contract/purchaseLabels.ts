/**
 * Returns the label of a purchase. Requests with the same label buy the same thing. `domain:example.com` is a
 * registration, `renewal:example.com:2027-01-31` the renewal of a domain that expires on that day.
 */
export const purchaseOf = {
  registration: (domain: string): string => `domain:${domain.toLowerCase()}`,
  renewal: (domain: string, expiresAt: string): string => `renewal:${domain.toLowerCase()}:${expiresAt.slice(0, 10)}`,
}

/** Formats a purchase label for a sentence: `register example.com`. */
export function describePurchase(purchase: string): string {
  const [kind, name] = purchase.split(':')
  if (name === undefined) return 'buy the same'
  if (kind === 'domain') return `register ${name}`
  return kind === 'renewal' ? `renew ${name}` : `buy ${name}`
}
