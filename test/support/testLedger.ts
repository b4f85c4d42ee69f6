import { join } from 'node:path'
import { silentLog } from '../../src/main/platform/log.ts'
import { creditLedger } from '../../src/main/service/credits/creditLedger.ts'
import type { CreditReservations, Reservation } from '../../src/main/service/credits/creditReservations.ts'
import { historyRepository } from '../../src/main/service/credits/historyRepository.ts'
import { ledgerRepository } from '../../src/main/service/credits/ledgerRepository.ts'
import { type KeyRules, openReservations } from '../../src/main/service/credits/openReservations.ts'
import { groupCommit } from '../../src/main/storage/groupCommit.ts'
import { logFlush } from '../../src/main/storage/logFlush.ts'
import { migrate } from '../../src/main/storage/migrate.ts'
import { serviceMigrations } from '../../src/main/storage/migrations/serviceMigrations.ts'
import { openDatabase } from '../../src/main/storage/openDatabase.ts'
import { AccountId } from '../../src/shared/ids.ts'
import { microUsdOfCents } from '../../src/shared/microUsd.ts'
import { temporaryFolder } from './temporaryFolder.ts'

/** A ledger on a file of its own, with one account, `ada`, that was given so many cents. */
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
  const ledger = creditLedger({ records: ledgerRepository(database), newId, now: () => clock.nowMs })
  const disk = logFlush(database)
  const commits = groupCommit({ database, flush: disk.flush, onBroken: () => undefined })
  const reservations: CreditReservations = openReservations({
    ...{ ledger, commits, log: silentLog },
    rulesOf: (id) => keys[id],
  })
  const ada = AccountId.parse('ada')
  const given = { type: 'grant', to: ada, amount: microUsdOfCents(cents), note: '', requestKey: 'first' } as const
  if (cents > 0) await commits.flushed(() => ledger.issue(given))
  return {
    ...{ path, database, ledger, history: historyRepository(database), commits, reservations, ada, clock },
    reserve: (cents: number, keyId?: string, model = 'gpt-5.2'): Promise<Reservation> =>
      reservations.reserve({ accountId: ada, keyId, worstCaseMicroUsd: microUsdOfCents(cents), model }),
    async close() {
      await commits.close()
      await disk.close()
      database.close()
    },
  }
}
