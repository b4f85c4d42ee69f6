import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { installFolder } from '#platform/programFile.ts'
import { throttlePerKey } from '#platform/throttlePerKey.ts'
import { AccountId } from '#shared/ids.ts'
import { microUsdOfCents } from '#shared/microUsd.ts'
import { groupCommit } from '#storage/groupCommit.ts'
import { logFlush } from '#storage/logFlush.ts'
import type { Caller, Endpoint } from '../base/endpoint.ts'
import { announcedRecords } from '../credits/announcedRecords.ts'
import { creditHistory } from '../credits/creditHistory.ts'
import { type CreditLedger, creditLedger } from '../credits/creditLedger.ts'
import type { CreditReservations } from '../credits/creditReservations.ts'
import { creditRoutes, unlimitedOnly } from '../credits/creditRoutes.ts'
import { type Credits, credits } from '../credits/credits.ts'
import { historyRepository } from '../credits/historyRepository.ts'
import { ledgerRepository } from '../credits/ledgerRepository.ts'
import { openReservations } from '../credits/openReservations.ts'
import { type PriceList, readPriceList } from '../credits/priceList.ts'
import { type SandboxBilling, sandboxBilling } from '../credits/sandboxBilling.ts'
import { type LedgerWrites, sweptHolds } from '../credits/sweptHolds.ts'
import type { IdentityParts } from './identityParts.ts'
import type { ServiceGround } from './serviceGround.ts'

export type LedgerParts = LedgerWrites & { credits: Credits }

export type CreditParts = {
  /** Named in /health. */
  capabilities: readonly string[]
  /** For whatever spends on models. */
  reservations: CreditReservations
  /** For sandboxes. */
  billing: SandboxBilling
  prices: PriceList
  /** @throws AppError for a key with limits */
  needUnlimited: (caller: Caller) => void
  endpoints: readonly Endpoint[]
}

const ownerStartCents = 1_000
/** Of 4 KB: moving the log into the database holds up the thread, so that it is done seldom. */
const checkpointPages = 4_000

/**
 * Opens the ledger, and charges what requests still held when the process before ended.
 * @throws what the disk says, if it cannot be written
 */
export async function ledgerParts({ database, clock, options, events, scope }: ServiceGround): Promise<LedgerParts> {
  const { now, log } = options
  database.pragma(`wal_autocheckpoint = ${checkpointPages}`)
  // In the order of time, so that the journal's index grows at its end: a quarter less to write for each.
  const newId = () => `txn_${now().toString(16).padStart(12, '0')}${randomUUID().slice(-12)}`
  const changes = scope.own(
    throttlePerKey((account: string) => events.publish(AccountId.parse(account), { type: 'credits.changed' })),
    (it) => it.close(),
  )
  const stored = ledgerRepository(database)
  stored.removeStaleMeters()
  const records = announcedRecords(stored, changes.happened)
  const ledger: CreditLedger = creditLedger({ records, newId, now, steadyMs: clock.steadyMs })
  const disk = scope.own(logFlush(database), (it) => it.close())
  const commits = scope.own(
    groupCommit({
      database,
      flush: disk.flush,
      onBroken: (failure) => log.error('the ledger refuses all work until the service is started again', { failure }),
    }),
    (it) => it.close(),
  )
  const recovered = await commits.flushed(() => ledger.recover())
  if (recovered > 0) log.warn('charged what requests held when the service ended', { requests: recovered })
  scope.own(sweptHolds({ ledger, commits, log: log.of('credits') }), (it) => it.close())
  const history = creditHistory(historyRepository(database))
  return { ledger, commits, credits: credits({ ledger, commits, history }) }
}

/** What people and programs do with credits. The account of the owner begins with some. */
export async function creditParts(
  ground: ServiceGround,
  { ledger: opened, identity }: { ledger: LedgerParts; identity: IdentityParts },
): Promise<CreditParts> {
  const { options, clock, activity, callers } = ground
  const { ledger, commits } = opened
  const prices = readPriceList(options.pricesFile ?? join(installFolder, 'resources', 'prices.json'))
  const amount = microUsdOfCents(options.ownerStartCents ?? ownerStartCents)
  const { owner: accountId, rulesOf } = identity
  if (amount > 0) await commits.flushed(() => ledger.begin({ accountId, amount, note: 'First credits' }))
  const sandboxesCharged = options.chargeSandboxes ?? false
  const log = options.log.of('credits')
  const needUnlimited = unlimitedOnly(rulesOf)
  return {
    prices,
    needUnlimited,
    reservations: openReservations({ ledger, commits, rulesOf, log }),
    billing: sandboxBilling({ ledger, commits, prices, isCharged: sandboxesCharged, clock, log }),
    capabilities: ['credits'],
    endpoints: callers.known(
      creditRoutes({
        ...{ credits: opened.credits, prices, sandboxesCharged, rulesOf, needUnlimited, accountOf: identity.accountOf },
        noteAccount: activity.noteAccount,
        now: options.now,
      }),
    ),
  }
}
