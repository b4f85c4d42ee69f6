/**
 * Whether other nameservers than the registrar's answer for a domain: the records kept here are then not in force.
 * @param own those of the registrar; one that begins with a dot stands for all below it, undefined is not known
 */
export function nameserversElsewhere(nameservers: readonly string[], own: readonly string[] | undefined): boolean {
  if (own === undefined || nameservers.length === 0) return false
  const isOwn = (name: string) => own.some((it) => (it.startsWith('.') ? name.endsWith(it) : name === it))
  return !nameservers.map((it) => it.toLowerCase()).every(isOwn)
}
