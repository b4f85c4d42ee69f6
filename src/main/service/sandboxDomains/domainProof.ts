import { Resolver } from 'node:dns/promises'

/** Verifies by DNS that the requester of a domain controls its records. */
export type DomainProof = {
  getRecord(claim: { domain: string; token: string }): { type: 'TXT'; name: string; value: string }
  /** Also resolves to false if DNS does not respond. */
  isProved(claim: { domain: string; token: string }): Promise<boolean>
}

const withinMs = 2_000
const tries = 2

/** @param servers DNS servers to query; undefined for those of the system */
export function createDomainProof(servers: readonly string[] | undefined): DomainProof {
  const getRecord: DomainProof['getRecord'] = ({ domain, token }) => ({
    type: 'TXT',
    name: `_steward.${domain}`,
    value: `steward-domain=${token}`,
  })
  return {
    getRecord,
    async isProved(claim) {
      const { name, value } = getRecord(claim)
      const resolver = new Resolver({ timeout: withinMs, tries })
      if (servers) resolver.setServers(servers)
      try {
        return (await resolver.resolveTxt(name)).some((pieces) => pieces.join('') === value)
      } catch {
        return false
      }
    },
  }
}

/** Whether the top-level domain is reserved, such as `.test` (https://www.rfc-editor.org/rfc/rfc6761#section-6). */
export function isReserved(domain: string): boolean {
  return /\.(test|example|invalid|internal)$/.test(domain)
}
