import { join } from 'node:path'
import { silentLog } from '#platform/logging/log.ts'
import { createCreditLedger } from '#service/credits/creditLedger.ts'
import type { CreditReservations, Reservation } from '#service/credits/creditReservations.ts'
import { createHistoryRepository } from '#service/credits/historyRepository.ts'
import { createLedgerRepository } from '#service/credits/ledgerRepository.ts'
import { type KeyRules, openReservations } from '#service/credits/openReservations.ts'
import { AccountId } from '#shared/ids.ts'
import { centsToMicroUsd } from '#shared/microUsd.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { createGroupCommit } from '#storage/sqlite/groupCommit.ts'
import { logFlush } from '#storage/sqlite/logFlush.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { temporaryFolder } from './temporaryFolder.ts'

/** Opens a ledger on a new file with one account, `ada`, and its initial balance in cents. */
export async function testLedger({ cents = 100, keys = {} as Record<string, KeyRules>, file = '' } = {}) {
  const clock = { nowMs: Date.UTC(2026, 10, 22, 12) }
  const path = file === '' ? join(temporaryFolder('ledger'), 'service.sqlite') : file
  const database = openDatabase(path)
  migrate(database, serviceMigrations)
  let ids = Date.now()
  const newId = () => {
    ids += 1
    return `txn_${ids}`
  }
  const ledger = createCreditLedger({ records: createLedgerRepository(database), newId, now: () => clock.nowMs })
  const disk = logFlush(database)
  const commits = createGroupCommit({ database, flush: disk.flush, onBroken: () => undefined })
  const reservations: CreditReservations = openReservations({
    ...{ ledger, commits, log: silentLog },
    getRules: (id) => keys[id],
  })
  const ada = AccountId.parse('ada')
  const grant = { type: 'grant', to: ada, amount: centsToMicroUsd(cents), note: '', requestKey: 'first' } as const
  if (cents > 0) await commits.commitDurable(() => ledger.issue(grant))
  return {
    ...{ path, database, ledger, history: createHistoryRepository(database), commits, reservations, ada, clock },
    reserve: (cents: number, keyId?: string, model = 'gpt-5.2'): Promise<Reservation> =>
      reservations.reserve({ accountId: ada, keyId, worstCaseMicroUsd: centsToMicroUsd(cents), model }),
    async close() {
      await commits.close()
      await disk.close()
      database.close()
    },
  }
}
