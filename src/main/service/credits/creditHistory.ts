import { setImmediate } from 'node:timers/promises'
import type { AccountId } from '#shared/ids.ts'
import type { HistoryFilters, HistoryRepository, HistoryRow, Stretch } from './historyRepository.ts'

/** Reads a journal of any length in ranges and yields to other work between them. */
export type CreditHistory = {
  /** Newest first. @throws the abort reason of the signal */
  page(query: HistoryQuery & { limit: number; offset: number; signal?: AbortSignal }): Promise<HistoryPage>
  /** Yields the complete history in batches, newest first. */
  rows(query: HistoryQuery): AsyncGenerator<HistoryRow[]>
  sums: HistoryRepository['sums']
}

type HistoryQuery = { accountId: AccountId; filters: HistoryFilters }
export type HistoryPage = { transfers: HistoryRow[]; total: number }

/**
 * Range lengths, in entries of all accounts. The first range is short because most queries need recent entries; the
 * longest takes about 15 ms.
 */
const firstStretch = 2_000
const maxStretch = 32_000
const rowsAtOnce = 200

export function createCreditHistory(records: HistoryRepository): CreditHistory {
  return {
    async page({ accountId, filters, limit, offset, signal }) {
      const isWhole = Object.values(filters).every((it) => it === undefined)
      const transfers: HistoryRow[] = []
      let total = 0
      for (const stretch of splitIntoStretches(await records.newest())) {
        const count = await records.count(accountId, filters, stretch)
        if (transfers.length < limit && total + count > offset) {
          const page = { limit: limit - transfers.length, offset: Math.max(0, offset - total) }
          transfers.push(...(await records.stretch(accountId, filters, { ...stretch, ...page })))
        }
        total += count
        if (isWhole && transfers.length === limit) break
        await setImmediate()
        signal?.throwIfAborted()
      }
      return { transfers, total: isWhole ? await records.entries(accountId) : total }
    },
    async *rows({ accountId, filters }) {
      for (const { above, below } of splitIntoStretches(await records.newest())) {
        let last = below
        for (;;) {
          const rows = await records.stretch(accountId, filters, { above, below: last, limit: rowsAtOnce, offset: 0 })
          if (rows.length > 0) yield rows
          await setImmediate()
          last = rows.at(-1)?.sequence ?? above
          if (rows.length < rowsAtOnce) break
        }
      }
    },
    sums: records.sums,
  }
}

/** Splits the journal into ranges, from the newest entry to the first. */
function* splitIntoStretches(newest: number): Generator<Stretch> {
  let length = firstStretch
  let below = newest + 1
  while (below > 1) {
    const above = Math.max(0, below - 1 - length)
    yield { above, below }
    below = above + 1
    length = Math.min(2 * length, maxStretch)
  }
}
