/**
 * Whether a domain uses other name servers than the registrar's, so that the records stored there have no effect.
 * @param own name servers of the registrar; a leading dot matches all subdomains; undefined if unknown
 */
export function areNameserversElsewhere(nameservers: readonly string[], own: readonly string[] | undefined): boolean {
  if (own === undefined || nameservers.length === 0) return false
  const isOwn = (name: string) => own.some((value) => (value.startsWith('.') ? name.endsWith(value) : name === value))
  return !nameservers.map((it) => it.toLowerCase()).every(isOwn)
}
