import { Policy } from '../../../shared/contract/intents.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type PolicyRepository = {
  read(): Policy
  write(policy: Policy): void
  /** Also while the rules cannot be understood: they are kept as they are. */
  switchStop(stopped: boolean): void
}

/** What holds before the person chose: everything is asked. */
export const initialPolicy: Policy = {
  stopped: false,
  rules: [],
  confirm_above_micro_usd: '10000000',
  expiry_minutes: 15,
}

/** What holds while the kept one cannot be understood. */
export const closedPolicy: Policy = {
  stopped: false,
  rules: [{ id: 'damaged', effect: 'deny', kind: '*', asker: '*', host: '*', max_amount_micro_usd: null }],
  confirm_above_micro_usd: '0',
  expiry_minutes: 15,
}

const Rules = Policy.omit({ stopped: true })

export function policyRepository(database: Database): PolicyRepository {
  const read = database.prepare<[], { stopped: 0 | 1; policy: string }>('SELECT stopped, policy FROM policy')
  const write = database.prepare<[0 | 1, string]>(
    `INSERT INTO policy VALUES (1, ?, ?)
     ON CONFLICT (only) DO UPDATE SET stopped = excluded.stopped, policy = excluded.policy`,
  )
  const switchStop = database.prepare<[0 | 1, string]>(
    `INSERT INTO policy VALUES (1, ?, ?) ON CONFLICT (only) DO UPDATE SET stopped = excluded.stopped`,
  )
  return {
    read() {
      const row = read.get()
      if (!row) return initialPolicy
      return { ...(understood(row.policy) ?? closedPolicy), stopped: row.stopped === 1 }
    },
    write({ stopped, ...rules }) {
      write.run(stopped ? 1 : 0, JSON.stringify(rules))
    },
    switchStop(stopped) {
      switchStop.run(stopped ? 1 : 0, JSON.stringify(Rules.parse(initialPolicy)))
    },
  }
}

function understood(text: string): Omit<Policy, 'stopped'> | undefined {
  try {
    return Rules.safeParse(JSON.parse(text)).data
  } catch {
    return undefined // the caller refuses everything then
  }
}
