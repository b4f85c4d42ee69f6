import { join } from 'node:path'
import { createAccountRequestRepository } from '#service/auth/accountRequestRepository.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'

/**
 * Creates a wallet's request for an account, regardless of the service's setting for unknown wallets.
 * @returns the id of the request
 */
export function waitingAccountRequest(dataDir: string, address: string): string {
  const database = openDatabase(join(dataDir, 'service.sqlite'))
  try {
    const id = 'areq_000000000000000000000001'
    const wallet = { type: 'evm', address } as const
    createAccountRequestRepository(database).save({
      id,
      wallet,
      state: 'waiting',
      askedAtMs: Date.now(),
      decidedAtMs: null,
    })
    return id
  } finally {
    database.close()
  }
}
