import type { HoldRequest, LedgerCharge } from '#service/credits/creditHolds.ts'
import type { KeyLimit } from '#service/credits/keyLimits.ts'

/** Reference model of the ledger, with maps instead of tables. The simulator runs both and compares them. */
export type ModelHold = {
  account: string
  keyId: string | null
  day: number | null
  limit: number | null
  amount: number
  expiresAtMs: number
  state: 'open' | 'posted' | 'voided' | 'expired'
  isCharged: boolean
}
export type ModelTransfer = {
  id: string
  type: string
  debit: string
  credit: string
  amount: number
  note: string
  holdId: number | null
  refundOf: string | null
  requestKey: string | null
  atMs: number
}
export type ModelState = {
  accounts: ReadonlyMap<string, { posted: number; held: number }>
  holds: ReadonlyMap<number, ModelHold>
  days: ReadonlyMap<string, { spent: number; held: number }>
  journal: readonly ModelTransfer[]
}

export const emptyState: ModelState = {
  accounts: new Map([
    ['service:issued', { posted: 0, held: 0 }],
    ['service:revenue', { posted: 0, held: 0 }],
  ]),
  holds: new Map(),
  days: new Map(),
  journal: [],
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const minBalance = 100_000

/** Updates copies, so that a captured state does not change. */
export class LedgerModel {
  state = emptyState
  /** Number of the newest id. The ledger numbers its transfers in the order of creation. */
  newestId = 0
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  available(account: string): number {
    const { posted, held } = this.#account(account)
    return posted - held
  }

  getRemaining(key: KeyLimit | undefined): number {
    if (key?.dailyLimit === undefined) return Number.POSITIVE_INFINITY
    return this.#leftOfDay(key.id, this.#today(), key.dailyLimit)
  }

  refusesHold({ accountId, key }: HoldRequest, amount: number | undefined): string | undefined {
    if (amount !== 0 && this.#account(accountId).posted < minBalance) return 'credits/insufficient'
    const over = this.getRemaining(key) < this.available(accountId) ? 'credits/daily-limit' : 'credits/insufficient'
    if (amount === undefined) return over
    if (amount > this.available(accountId)) return 'credits/insufficient'
    return amount > this.getRemaining(key) ? 'credits/daily-limit' : undefined
  }

  hold(id: number, { accountId, key }: HoldRequest, amount: number): void {
    const limit = key?.dailyLimit ?? null
    const day = limit === null ? null : this.#today()
    const keyId = key?.id ?? null
    const expiresAtMs = this.#now() + hourMs
    const hold = {
      account: accountId,
      keyId,
      day,
      limit,
      amount,
      expiresAtMs,
      state: 'open',
      isCharged: false,
    } as const
    this.#set({ holds: new Map(this.state.holds).set(id, hold) })
    this.#change(accountId, { held: amount })
    this.#changeDay(hold, { held: amount })
  }

  /** @returns the charged amount, or undefined if the hold has ended and nothing is charged */
  post(id: number, { amount, limit: most }: LedgerCharge): number | undefined {
    const hold = this.state.holds.get(id)
    if (!hold || hold.isCharged || (hold.state !== 'open' && hold.state !== 'expired')) return undefined
    const released = hold.state === 'open' ? hold.amount : 0
    const { account, keyId, day, limit } = hold
    const remaining = keyId === null || day === null || limit === null ? amount : this.#leftOfDay(keyId, day, limit)
    const charged = Math.min(amount, most ?? amount, released + Math.min(this.available(account), remaining))
    this.#end(id, hold.state === 'open' ? 'posted' : 'expired', true)
    this.#change(account, { held: -released })
    this.#changeDay(hold, { held: -released, spent: charged })
    this.move({ type: 'inference', debit: account, credit: 'service:revenue', amount: charged, holdId: id })
    return charged
  }

  void(id: number, end: 'voided' | 'expired' = 'voided'): boolean {
    const hold = this.state.holds.get(id)
    if (hold?.state !== 'open') return false
    this.#end(id, end, false)
    this.#change(hold.account, { held: -hold.amount })
    this.#changeDay(hold, { held: -hold.amount })
    return true
  }

  expire(): number {
    const due = [...this.state.holds].filter(([, hold]) => hold.state === 'open' && hold.expiresAtMs <= this.#now())
    for (const [id] of due) this.void(id, 'expired')
    return due.length
  }

  recover(): number {
    const open = [...this.state.holds].filter(([, hold]) => hold.state === 'open')
    for (const [id, { amount }] of open) this.post(id, { amount: amount as LedgerCharge['amount'], details: {} })
    return open.length
  }

  findByRequestKey(requestKey: string | undefined): ModelTransfer | undefined {
    if (requestKey === undefined) return undefined
    return this.state.journal.findLast((it) => it.requestKey === requestKey)
  }

  spendOfDay(key: KeyLimit | undefined, amount: number): void {
    if (key?.dailyLimit === undefined) return
    this.#changeDay({ keyId: key.id, day: this.#today() }, { spent: amount })
  }

  refundable(id: string): number | undefined {
    const charge = this.state.journal.find(
      (modelTransfer) => modelTransfer.id === id && modelTransfer.credit === 'service:revenue',
    )
    if (!charge) return undefined
    const refunds = this.state.journal.filter((it) => it.refundOf === id)
    return charge.amount - refunds.reduce((sum, it) => sum + it.amount, 0)
  }

  move(transfer: Pick<ModelTransfer, 'type' | 'debit' | 'credit' | 'amount'> & Partial<ModelTransfer>): void {
    if (transfer.id === undefined) this.newestId += 1
    const defaults = {
      id: `txn_${this.newestId}`,
      note: '',
      holdId: null,
      refundOf: null,
      requestKey: null,
      atMs: this.#now(),
    }
    this.#set({ journal: [...this.state.journal, { ...defaults, ...transfer }] })
    this.#change(transfer.debit, { posted: -transfer.amount })
    this.#change(transfer.credit, { posted: transfer.amount })
  }

  #account(id: string) {
    return this.state.accounts.get(id) ?? { posted: 0, held: 0 }
  }

  #today(): number {
    return Math.floor(this.#now() / dayMs)
  }

  #leftOfDay(keyId: string, day: number, limit: number): number {
    const { spent, held } = this.state.days.get(`${keyId} ${day}`) ?? { spent: 0, held: 0 }
    return Math.max(0, limit - spent - held)
  }

  #set(change: Partial<ModelState>): void {
    this.state = { ...this.state, ...change }
  }

  #change(id: string, { posted = 0, held = 0 }: { posted?: number; held?: number }): void {
    const before = this.#account(id)
    const after = { posted: before.posted + posted, held: before.held + held }
    this.#set({ accounts: new Map(this.state.accounts).set(id, after) })
  }

  #changeDay(
    keyDay: { keyId: string | null; day: number | null },
    { spent = 0, held = 0 }: { spent?: number; held?: number },
  ) {
    if (keyDay.keyId === null || keyDay.day === null) return
    const name = `${keyDay.keyId} ${keyDay.day}`
    const before = this.state.days.get(name) ?? { spent: 0, held: 0 }
    this.#set({ days: new Map(this.state.days).set(name, { spent: before.spent + spent, held: before.held + held }) })
  }

  #end(id: number, state: ModelHold['state'], isCharged: boolean): void {
    const hold = this.state.holds.get(id)
    if (hold) this.#set({ holds: new Map(this.state.holds).set(id, { ...hold, state, isCharged }) })
  }
}
