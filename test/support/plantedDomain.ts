import { join } from 'node:path'
import { domainRepository } from '#service/domains/domainRepository.ts'
import { registryNameservers } from '#service/domains/registrars/local/localRegistry.ts'
import { registryRepository } from '#service/domains/registrars/local/registryRepository.ts'
import { AccountId } from '#shared/ids.ts'
import { openDatabase } from '#storage/openDatabase.ts'

const yearMs = 365 * 24 * 60 * 60_000

type Planted = { accountId: string; name: string; expiresAtMs?: number }

/** A domain of the test registry that this account owns, without a payment. */
export function plantedDomain(dataDir: string, given: Planted): void {
  plantedDomains(dataDir, [given])
}

/** Many of them, as one change. */
export function plantedDomains(dataDir: string, all: readonly Planted[]): void {
  const database = openDatabase(join(dataDir, 'service.sqlite'))
  const [registry, domains] = [registryRepository(database), domainRepository(database, 'local')]
  database.transaction(() => {
    for (const given of all) plant(given, { registry, domains })
  })()
  database.close()
}

type Places = { registry: ReturnType<typeof registryRepository>; domains: ReturnType<typeof domainRepository> }

function plant({ accountId, name, expiresAtMs }: Planted, { registry, domains }: Places): void {
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
