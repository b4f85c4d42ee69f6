import { strict as assert } from 'node:assert'
import { silentLog } from '#platform/logging/log.ts'
import { createCreditHistory } from '#service/credits/creditHistory.ts'
import { type CreditLedger, createCreditLedger } from '#service/credits/creditLedger.ts'
import type { CreditReservations } from '#service/credits/creditReservations.ts'
import { type Credits, createCredits } from '#service/credits/credits.ts'
import { createHistoryRepository } from '#service/credits/historyRepository.ts'
import type { KeyLimit } from '#service/credits/keyLimits.ts'
import { createLedgerRepository } from '#service/credits/ledgerRepository.ts'
import { openReservations } from '#service/credits/openReservations.ts'
import { createSqliteLedger } from '#service/credits/sqliteLedger.ts'
import { AppError } from '#shared/appError.ts'
import { AccountId } from '#shared/ids.ts'
import { type MicroUsd, toMicroUsd } from '#shared/microUsd.ts'
import { createGroupCommit, type GroupCommit } from '#storage/sqlite/groupCommit.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { createCheckedLedger } from './checkedLedger.ts'
import { checkBalances, checkEverything, readJournal } from './ledgerChecks.ts'
import { emptyState, LedgerModel, type ModelState } from './ledgerModel.ts'
import { createSeededRandom, type Random } from './random.ts'
import { Crash, createSimulatedDisk, type Planted, type SimulatedDisk } from './simulatedDisk.ts'
import { createSimulatedWorld, type Life, type SimulatedWorld } from './simulatedWorld.ts'

/** Bugs that are planted on purpose, to verify that the simulator finds them. */
export type PlantedBug = Planted & {
  ledger?: (real: CreditLedger, model: LedgerModel) => CreditLedger
  commits?: (real: GroupCommit) => GroupCommit
}

export type HistoryFigures = { crashes: number; commits: number; refusals: number; charges: number }

const accounts = ['acct_owner', 'acct_ada', 'acct_bob'].map((it) => AccountId.parse(it))
const keys: readonly (KeyLimit | undefined)[] = [
  undefined,
  { id: 'key_free', dailyLimit: undefined },
  { id: 'key_small', dailyLimit: toMicroUsd(150_000) },
]
const kinds = [
  ...(['ask', 'ask', 'ask', 'ask', 'transfer', 'transfer'] as const),
  ...(['grant', 'adjust', 'refund', 'sandbox', 'sweep'] as const),
]
const begin = toMicroUsd(1_000_000)

/**
 * Runs one short history of the ledger: concurrent payers, transfers, refunds and sandboxes, over a failing disk and
 * network. The seed determines the order and the times. Every result and every commit is compared with the model.
 * @throws AssertionError for the first deviation
 */
export async function ledgerHistory(seed: number, planted: PlantedBug = {}): Promise<HistoryFigures> {
  const history = new LedgerHistory(createSeededRandom(seed), planted)
  return history.run()
}

type Process = {
  life: Life
  ledger: CreditLedger
  reservations: CreditReservations
  credits: Credits
  commits: GroupCommit
}
/** Reply to a client, and the condition that must hold from then on. */
type Promised = { atCommit: number; survivesPower: boolean; holds: () => void }

class LedgerHistory {
  readonly #random: Random
  readonly #planted: PlantedBug
  readonly #world: SimulatedWorld
  readonly #disk: SimulatedDisk
  readonly #model: LedgerModel
  /** State of the model after each commit. */
  readonly #states = new Map<number, ModelState>([[1, emptyState]])
  readonly #figures: HistoryFigures = { crashes: 0, commits: 0, refusals: 0, charges: 0 }
  readonly #known: string[] = []
  #process: Process | undefined
  #promises: Promised[] = []
  #ids = 0
  #failure: unknown

  constructor(random: Random, planted: PlantedBug) {
    this.#random = random
    this.#planted = planted
    this.#world = createSimulatedWorld(random)
    this.#model = new LedgerModel(this.#world.now)
    const crashes = random.chance(0.6) ? random.whole(1, 2) : 0
    this.#disk = createSimulatedDisk({
      random,
      world: this.#world,
      planted,
      faults: {
        crashesAt: new Set(Array.from({ length: crashes }, () => random.whole(5, 250))),
        failingFlushes: random.chance(0.15) ? 1 : 0,
        onCrash: (kind) => this.#restart(kind),
        onCommit: (commits) => this.#committed(commits),
      },
    })
  }

  async run(): Promise<HistoryFigures> {
    this.#start()
    const clients = this.#random.whole(4, 12)
    for (let client = 0; client < clients; client += 1) {
      this.#world.after(this.#random.whole(0, 60), () => this.#watched(this.#client(client)))
    }
    if (this.#random.chance(0.3)) this.#world.after(this.#random.whole(0, 80), () => this.#setClock())
    if (this.#random.chance(0.2)) this.#fillDisk()
    await this.#world.run(() => this.#failure !== undefined)
    if (this.#failure === undefined) this.#checkAtRest()
    if (this.#failure !== undefined) throw this.#failure
    return this.#figures
  }

  #start(): void {
    const life: Life = { hasEnded: false }
    try {
      const database = this.#disk.open(life)
      const records = createLedgerRepository(database)
      const real = createCreditLedger({
        records,
        newId: () => this.#newId(),
        now: this.#world.now,
      })
      const changed = this.#planted.ledger?.(real, this.#model) ?? real
      const ledger = this.#rolledBack(createCheckedLedger(changed, this.#model, () => this.#ids))
      const opened = createGroupCommit({
        database: this.#modelled(database),
        flush: () => this.#disk.flush(life),
        onBroken: () => this.#end(life, 'power'),
        soon: (task) => this.#world.after(this.#random.whole(0, 2), task, life),
        later: (task, ms) => this.#world.after(ms, task, life),
      })
      const commits = this.#planted.commits?.(opened) ?? opened
      const { removeStaleMeters } = records
      const store = createSqliteLedger({ database, ledger, commits, removeStaleMeters })
      const reservations = openReservations({
        ledger: store,
        getRules: async (id) => ({ models: null, dailyLimit: keys.find((it) => it?.id === id)?.dailyLimit ?? null }),
        log: silentLog,
        later: (task, ms) => this.#world.after(ms, task, life),
      })
      const history = createCreditHistory(createHistoryRepository(createSqliteStore(database).read))
      const people = createCredits({ ledger: store, history })
      this.#process = { life, ledger, reservations, credits: people, commits }
      this.#watched(this.#begin(this.#process))
    } catch (error) {
      if (!(error instanceof Crash)) throw error
    }
  }

  #newId(): string {
    this.#ids += 1
    return `txn_${this.#ids}`
  }

  /** Starts the service. If the start fails, the process ends and is started again. */
  async #begin({ commits, ledger, life }: Process): Promise<void> {
    try {
      await commits.commitDurable(() => ledger.recover())
      for (const accountId of accounts) {
        await commits.commitDurable(() => ledger.begin({ accountId, amount: begin, note: 'begin' }))
      }
    } catch (error) {
      this.#end(life, 'process')
      throw error
    }
  }

  #end(life: Life, kind: 'process' | 'power'): void {
    if (life.hasEnded) return
    life.hasEnded = true
    this.#restart(kind)
  }

  #restart(kind: 'process' | 'power'): void {
    this.#figures.crashes += 1
    this.#process = undefined
    this.#disk.isFull = false
    this.#disk.crash(kind)
    const { made } = this.#disk.commits()
    this.#model.state = this.#stateAt(made)
    this.#promises = this.#promises.filter((promised) => promised.atCommit <= made || promised.survivesPower)
    this.#world.after(this.#random.whole(1, 50), () => {
      this.#start()
      this.#guarded(() => this.#checkNow())
    })
  }

  /** Rolls the model back when a transaction fails. */
  #modelled<T extends { transaction: (work: () => unknown) => { immediate(): unknown } }>(database: T): T {
    const transaction = (work: () => unknown) => {
      const whole = database.transaction(work)
      return {
        immediate: () => {
          const before = this.#stateAt(this.#disk.commits().made)
          this.#model.state = before
          try {
            return whole.immediate()
          } catch (error) {
            if (this.#model.state !== this.#stateAt(this.#disk.commits().made)) {
              this.#model.state = this.#stateAt(this.#disk.commits().made)
            }
            throw error
          }
        },
      }
    }
    return { prepare: Reflect.get(database, 'prepare'), transaction } as unknown as T
  }

  /** A disagreement inside a transaction must not be mistaken for a disk error. */
  #rolledBack(ledger: CreditLedger): CreditLedger {
    return new Proxy(ledger, {
      get:
        (target, name: keyof CreditLedger) =>
        (...input: never[]) => {
          try {
            return (target[name] as (...input: never[]) => unknown)(...input)
          } catch (error) {
            const isExpected = error instanceof AppError || error instanceof Crash || isDiskFull(error)
            if (!isExpected) this.#failure ??= error
            throw error
          }
        },
    })
  }

  #committed(commits: number): void {
    this.#figures.commits += 1
    this.#states.set(commits, this.#model.state)
    this.#guarded(() => checkBalances(this.#disk.inspect(), this.#model.state))
  }

  #stateAt(commit: number): ModelState {
    return this.#states.get(commit) ?? emptyState
  }

  async #client(number: number): Promise<void> {
    const random = this.#random
    const kind = random.pick(kinds)
    if (kind === 'ask') return this.#ask(number)
    if (kind === 'sandbox') return this.#chargeSandbox()
    if (kind === 'sweep') return this.#sweep()
    return this.#insist(number, kind)
  }

  /** Acts as the gateway: places a hold, calls a remote model, and settles. Ends with the process. */
  async #ask(number: number): Promise<void> {
    const random = this.#random
    const process = this.#process
    if (!process) return
    const { life, reservations } = process
    const key = random.pick(keys)
    const accountId = random.pick(accounts)
    const worst = toMicroUsd(random.whole(0, 400_000))
    const minMicroUsd = random.whole(0, 30_000)
    const quarter = (spendable: MicroUsd) =>
      spendable < minMicroUsd ? undefined : toMicroUsd(Math.floor(spendable / 4))
    const reservation = await reservations
      .reserve({
        ...{ accountId, keyId: key?.id, model: `ask ${number}` },
        worstCaseMicroUsd: random.chance(0.3) ? quarter : worst,
      })
      .catch((error: unknown) => this.#refused(error, life))
    if (!reservation || life.hasEnded) return
    const { heldMicroUsd } = reservation
    const outcome = random.pick(['answer', 'answer', 'answer', 'doubled', 'lost', 'refused', 'late', 'leak', 'beyond'])
    await this.#world.pause(outcome === 'late' ? 3_700_000 : random.whole(0, 40), life)
    if (outcome === 'leak') return
    if (outcome === 'refused') {
      await reservation.release()
      if (random.chance(0.5)) await reservation.settle({ amountMicroUsd: heldMicroUsd, estimated: true })
      return
    }
    const maxMicroUsd = outcome === 'beyond' ? heldMicroUsd + 200_000 : heldMicroUsd
    const charge = { amountMicroUsd: toMicroUsd(random.whole(0, maxMicroUsd)), estimated: outcome === 'lost' }
    const settled = reservation.settle(charge)
    if (outcome === 'doubled') {
      await this.#world.pause(random.whole(0, 5), life)
      await Promise.all([reservation.settle(charge), reservation.release()])
    }
    const { written } = await settled
    if (life.hasEnded || !written) return
    this.#figures.charges += 1
    this.#tell(false, () => assert.equal(this.#countNamed(`ask ${number}`), 1, `ask ${number} was not charged once`))
  }

  /** Client that repeats one operation with the same key until it gets the result. */
  async #insist(number: number, kind: 'transfer' | 'grant' | 'adjust' | 'refund'): Promise<void> {
    const random = this.#random
    const note = `${kind} ${number}`
    const [from, to] = random.chance(0.5) ? accounts : [...accounts].reverse()
    if (!from || !to) return
    const amount = toMicroUsd(random.whole(1, 300_000))
    const key = random.pick(keys)
    const transactionId = random.chance(0.8) && this.#known.length > 0 ? random.pick(this.#known) : 'txn_none'
    const request = { note, idempotencyKey: note, by: accounts[0] ?? from }
    const refunded = random.chance(0.5) ? undefined : amount
    const direction = random.chance(0.5) ? 'up' : 'down'
    const ask = (process: Process) => {
      const { credits: ledger } = process
      if (kind === 'transfer') return ledger.transfer({ ...request, from, to, amount, key })
      if (kind === 'grant') return ledger.grant({ ...request, to, amount })
      if (kind === 'adjust') return ledger.adjust({ ...request, to, amount, direction })
      return ledger.refund({ ...request, transactionId, amount: refunded })
    }
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const outcome = await this.#heard(ask)
      if (outcome === 'done') {
        this.#tell(true, () => assert.equal(this.#countNamed(note), 1, `${note} did not happen once`))
        if (!random.chance(0.2)) return
      }
      if (outcome === 'refused') return
      await this.#world.pause(random.whole(1, 60))
    }
  }

  /**
   * Returns the reply to a client that sends a request once or twice at the same time, or `nothing` if the response was
   * lost.
   */
  async #heard(ask: (process: Process) => Promise<unknown>): Promise<'done' | 'refused' | 'nothing'> {
    const random = this.#random
    const process = this.#process
    if (!process) return 'nothing'
    const { life } = process
    const answers = random.chance(0.15) ? [ask(process), ask(process)] : [ask(process)]
    const first = Promise.all(answers).then(
      () => 'done' as const,
      (error: unknown) => {
        if (error instanceof AppError && error.status < 500) return 'refused' as const
        return 'nothing' as const
      },
    )
    const outcome = await Promise.race([first, this.#world.pause(200).then(() => 'nothing' as const)])
    if (life.hasEnded && outcome !== 'done') return 'nothing'
    if (outcome === 'refused') this.#figures.refusals += 1
    return random.chance(0.15) ? 'nothing' : outcome
  }

  async #chargeSandbox(): Promise<void> {
    const process = this.#process
    if (!process) return
    const accountId = this.#random.pick(accounts)
    const amount = toMicroUsd(this.#random.whole(1, 200_000))
    const charge = () => process.ledger.charge({ accountId, type: 'sandbox', description: 'sandbox', amount })
    await process.commits.commit(charge).catch((error: unknown) => this.#refused(error, process.life))
  }

  async #sweep(): Promise<void> {
    const process = this.#process
    if (!process) return
    if (this.#random.chance(0.5)) this.#world.setClock(3_600_001)
    await process.commits
      .commit(() => process.ledger.expire())
      .catch((error: unknown) => this.#refused(error, process.life))
  }

  #setClock(): void {
    const hours = this.#random.pick([-2, -1, 1, 24, 30])
    this.#world.setClock(hours * 3_600_000 + this.#random.whole(-60_000, 60_000))
  }

  #fillDisk(): void {
    this.#world.after(this.#random.whole(5, 60), () => {
      this.#disk.isFull = true
      this.#world.after(this.#random.whole(5, 3_000), () => {
        this.#disk.isFull = false
      })
    })
  }

  #refused(failure: unknown, life: Life): undefined {
    if (life.hasEnded) return undefined
    if (!(failure instanceof AppError)) throw failure
    this.#figures.refusals += 1
    return undefined
  }

  #tell(survivesPower: boolean, holds: () => void): void {
    const { made: commits } = this.#disk.commits()
    this.#promises.push({ atCommit: commits, survivesPower, holds })
    this.#guarded(holds)
    const newest = this.#model.state.journal.at(-1)
    if (newest) this.#known.push(newest.id)
  }

  #countNamed(note: string): number {
    return readJournal(this.#disk.inspect()).filter((it) => it.note === note).length
  }

  #checkNow(): void {
    checkEverything(this.#disk.inspect(), this.#stateAt(this.#disk.commits().made))
    for (const { holds } of this.#promises) holds()
  }

  /** Checks that everything is durable at the end, by a last power cut. */
  #checkAtRest(): void {
    this.#guarded(() => {
      const { made } = this.#disk.commits()
      this.#disk.crash('power')
      const { made: commitsLeft } = this.#disk.commits()
      // Both are the same state: every request in the commits between them was refused.
      assert.ok(
        this.#stateAt(commitsLeft) === this.#stateAt(made),
        'something that was written long ago is not on the disk',
      )
      this.#checkNow()
    })
  }

  #guarded(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.#failure ??= error
    }
  }

  #watched(work: Promise<void>): void {
    work.catch((error: unknown) => {
      const isEnd = error instanceof Crash || error instanceof AppError || isDiskFull(error)
      if (!isEnd) this.#failure ??= error
    })
  }
}

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('SQLITE_FULL')
}
