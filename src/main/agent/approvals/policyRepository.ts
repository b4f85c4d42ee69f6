import { Policy } from '#shared/contract/intents.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, flag, lenientJson, number, type Params, type RowOf, type StoredRow } from '#storage/table.ts'

export type PolicyRepository = {
  read(): Policy
  write(policy: Policy): void
  /** Leaves the stored rules unchanged, even if they cannot be parsed. */
  switchStop(stopped: boolean): void
}

/** Policy before the user sets one: everything needs approval. */
export const initialPolicy: Policy = {
  stopped: false,
  rules: [],
  confirm_above_micro_usd: '10000000',
  expiry_minutes: 15,
}

/** Policy that applies while the stored one cannot be parsed. */
export const closedPolicy: Policy = {
  stopped: false,
  rules: [{ id: 'damaged', effect: 'deny', kind: '*', requester: '*', host: '*', max_amount_micro_usd: null }],
  confirm_above_micro_usd: '0',
  expiry_minutes: 15,
}

const Rules = Policy.omit({ stopped: true })

const policies = defineTable('policy', {
  /** Key of the single row. */
  only: number<1>(),
  stopped: flag(),
  policy: lenientJson(Rules.parse, Rules.parse(closedPolicy)),
})

export function createPolicyRepository(database: Database): PolicyRepository {
  const read = database.prepare<[], StoredRow>(`SELECT ${policies.selection()} FROM policy`)
  const write = database.prepare<[Params<keyof RowOf<typeof policies>>]>(policies.upsert(['only']))
  const switchStop = database.prepare<[Params<keyof RowOf<typeof policies>>]>(
    `${policies.insert} ON CONFLICT (only) DO UPDATE SET ${policies.assignments(['stopped'])}`,
  )
  return {
    read() {
      const row = read.get()
      if (!row) return initialPolicy
      const { policy, stopped } = policies.fromRow(row)
      return { ...policy, stopped }
    },
    write: ({ stopped, ...policy }) => void write.run(policies.params({ only: 1, stopped, policy })),
    switchStop: (stopped) =>
      void switchStop.run(policies.params({ only: 1, stopped, policy: Rules.parse(initialPolicy) })),
  }
}
