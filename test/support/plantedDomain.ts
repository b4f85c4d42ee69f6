import { join } from 'node:path'
import { domainRepository } from '../../src/main/service/domains/domainRepository.ts'
import { registryNameservers } from '../../src/main/service/domains/registrars/local/localRegistry.ts'
import { registryRepository } from '../../src/main/service/domains/registrars/local/registryRepository.ts'
import { openDatabase } from '../../src/main/storage/openDatabase.ts'
import { AccountId } from '../../src/shared/ids.ts'

const yearMs = 365 * 24 * 60 * 60_000

/** A domain of the test registry that this account owns, without a payment. */
export function plantedDomain(dataDir: string, given: { accountId: string; name: string; expiresAtMs?: number }): void {
  const { accountId, name } = given
  const database = openDatabase(join(dataDir, 'service.sqlite'))
  const atMs = Date.now()
  const domain = {
    ...{ name, registeredAtMs: atMs, expiresAtMs: given.expiresAtMs ?? atMs + yearMs, privacy: true, locked: true },
    nameservers: registryNameservers,
  }
  registryRepository(database).add({ ...domain, activeAtMs: atMs, serial: 1 })
  domainRepository(database, 'local').keep({
    ...domain,
    ...{ accountId: AccountId.parse(accountId), status: 'active', autoRenew: false, readAtMs: atMs },
  })
  database.close()
}
