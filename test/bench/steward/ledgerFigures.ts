import { randomBytes } from 'node:crypto'
import { silentLog } from '#platform/logging/log.ts'
import { createApiKeys } from '#service/accounts/apiKeys.ts'
import { ensureOwner } from '#service/accounts/ownerAccount.ts'
import { openReservations } from '#service/credits/openReservations.ts'
import type { AccountId } from '#shared/ids.ts'
import { centsToMicroUsd, toMicroUsd } from '#shared/microUsd.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { temporaryFolder } from '../../support/fixtures/temporaryFolder.ts'
import { testLedger } from '../../support/fixtures/testLedger.ts'

export type LedgerFigures = { pairsPerSecond: number; processorMs: number; flushedPairsPerSecond: number }

const hold = toMicroUsd(20_000)
const charge = toMicroUsd(1_234)

/** Measures the ledger's work per model request: a key lookup, a hold, and a charge with details. */
export async function ledgerFigures({ pairs, clients }: { pairs: number; clients: number }): Promise<LedgerFigures> {
  const at = await testLedger({ cents: 0 })
  try {
    const store = createSqliteStore(at.database)
    const keys = createApiKeys({ store, now: Date.now, randomBytes })
    const keyFile = `${temporaryFolder('bench-ledger')}/owner.key`
    const accountId = await ensureOwner({ store, keyFile, now: Date.now, randomBytes })
    const rules = { models: ['gpt-5.2'], dailyLimit: centsToMicroUsd(100_000_000) }
    const { key } = await keys.create(accountId, 'bench', rules)
    const amount = centsToMicroUsd(100_000_000)
    await at.commits.commitDurable(() =>
      at.ledger.issue({ type: 'grant', to: accountId, amount, note: '', requestKey: undefined }),
    )
    const reservations = openReservations({ ledger: at.store, getRules: keys.getRules, log: silentLog })
    const details = { price_version: '2026-11-01', input_tokens: 1_234, output_tokens: 345 }

    const client = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) {
        const caller = await keys.identify(key)
        if (!caller) throw new Error('The key is not known.')
        const reservation = await reservations.reserve({
          ...{ accountId: caller.accountId, keyId: caller.keyId, model: 'gpt-5.2', worstCaseMicroUsd: hold },
        })
        await reservation.settle({ amountMicroUsd: charge, estimated: false, details })
      }
    }
    await client(200)
    const before = { ms: performance.now(), processor: process.cpuUsage() }
    await Promise.all(Array.from({ length: clients }, () => client(Math.ceil(pairs / clients))))
    const seconds = (performance.now() - before.ms) / 1000
    const { user, system } = process.cpuUsage(before.processor)
    return {
      pairsPerSecond: pairs / seconds,
      processorMs: (user + system) / 1000 / pairs,
      flushedPairsPerSecond: runFlushedPairs(at, accountId, Math.ceil(pairs / 20)),
    }
  } finally {
    await at.close()
  }
}

type Ledger = Pick<Awaited<ReturnType<typeof testLedger>>, 'database' | 'ledger'>

/**
 * Runs the same two changes in separate transactions that each wait for the disk. The difference is the saving of group
 * commit.
 */
function runFlushedPairs({ database, ledger }: Ledger, accountId: AccountId, pairs: number): number {
  database.pragma('synchronous = FULL')
  const began = performance.now()
  for (let index = 0; index < pairs; index += 1) {
    const request = { accountId, key: undefined, amount: hold, model: 'gpt-5.2' }
    const { id } = database.transaction(() => ledger.hold(request)).immediate()
    database.transaction(() => ledger.post(id, { amount: charge, details: {} })).immediate()
  }
  return pairs / ((performance.now() - began) / 1000)
}
