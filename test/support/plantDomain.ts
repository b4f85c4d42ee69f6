import { join } from 'node:path'
import { createDomainRepository } from '#service/domains/domainRepository.ts'
import { registryNameservers } from '#service/domains/registrars/local/localRegistry.ts'
import { createRegistryRepository } from '#service/domains/registrars/local/registryRepository.ts'
import { AccountId } from '#shared/ids.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'

const yearMs = 365 * 24 * 60 * 60_000

type Planted = { accountId: string; name: string; expiresAtMs?: number }

/** Adds a domain of the test registry to an account, without a payment. */
export function plantDomain(dataDir: string, domain: Planted): void {
  plantDomains(dataDir, [domain])
}

/** Adds several domains in one transaction. */
export function plantDomains(dataDir: string, all: readonly Planted[]): void {
  const database = openDatabase(join(dataDir, 'service.sqlite'))
  const [registry, domains] = [createRegistryRepository(database), createDomainRepository(database, 'local')]
  database.transaction(() => {
    for (const domain of all) plant(domain, { registry, domains })
  })()
  database.close()
}

type Repositories = {
  registry: ReturnType<typeof createRegistryRepository>
  domains: ReturnType<typeof createDomainRepository>
}

function plant({ accountId, name, expiresAtMs }: Planted, { registry, domains }: Repositories): void {
  const atMs = Date.now()
  const domain = {
    ...{ name, registeredAtMs: atMs, expiresAtMs: expiresAtMs ?? atMs + yearMs, privacy: true, locked: true },
    nameservers: registryNameservers,
  }
  registry.add({ ...domain, activeAtMs: atMs, serial: 1 })
  domains.keep({
    ...domain,
    ...{ accountId: AccountId.parse(accountId), status: 'active', autoRenew: false, readAtMs: atMs },
  })
}
