import { join } from 'node:path'
import { createAccountRequestRepository } from '#service/auth/accountRequestRepository.ts'
import { openDatabase } from '#storage/openDatabase.ts'

/** Has a wallet ask a service for an account, whatever that service does with unknown wallets. @returns the request's id */
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
