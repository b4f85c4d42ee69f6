import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createThrottlePerKey } from '#platform/concurrency/throttlePerKey.ts'
import { installFolder } from '#platform/program/programFile.ts'
import { AccountId } from '#shared/ids.ts'
import { centsToMicroUsd } from '#shared/microUsd.ts'
import type { Caller, Endpoint } from '../base/endpoint.ts'
import { createCreditHistory } from '../credits/creditHistory.ts'
import { createCreditLedger } from '../credits/creditLedger.ts'
import type { CreditReservations } from '../credits/creditReservations.ts'
import { createCreditRoutes, createUnlimitedCheck } from '../credits/creditRoutes.ts'
import { type Credits, createCredits } from '../credits/credits.ts'
import { toStartId } from '../credits/creditTransfers.ts'
import { createHistoryRepository } from '../credits/historyRepository.ts'
import type { LedgerStore, LedgerWork } from '../credits/ledgerStore.ts'
import { notifyChanges } from '../credits/notifyChanges.ts'
import { openReservations } from '../credits/openReservations.ts'
import { type PriceList, readPriceList } from '../credits/priceList.ts'
import { createSandboxBilling, type SandboxBilling } from '../credits/sandboxBilling.ts'
import { recoverHolds, sweepExpiredHolds } from '../credits/sweepExpiredHolds.ts'
import type { IdentityModule } from './composeIdentity.ts'
import type { ServiceContext } from './serviceContext.ts'

export type LedgerModule = {
  ledger: LedgerStore
  credits: Credits
}

export type CreditModule = {
  capabilities: readonly string[]
  /** Reservations for services that spend on models. */
  reservations: CreditReservations
  billing: SandboxBilling
  prices: PriceList
  /** @throws AppError for a key with limits */
  assertUnlimited: (caller: Caller) => Promise<void>
  endpoints: readonly Endpoint[]
}

const ownerStartCents = 1_000

/**
 * Opens the ledger and charges the holds that were open when the previous process ended.
 * @throws the error of the disk if the ledger cannot be written
 */
export async function composeLedger({
  store,
  openLedger,
  clock,
  options,
  events,
  scope,
}: ServiceContext): Promise<LedgerModule> {
  const { now, log } = options
  // Ids sort by time, so that the index of the journal grows at its end. This saves a quarter of the bytes written per
  // row.
  const newId = () => `txn_${now().toString(16).padStart(12, '0')}${randomUUID().slice(-12)}`
  const changes = scope.own(
    createThrottlePerKey((account: string) => events.publish(AccountId.parse(account), { type: 'credits.changed' })),
    (it) => it.close(),
  )
  const ledger = await openLedger({
    createLedger: (records) =>
      createCreditLedger({ records: notifyChanges(records, changes.mark), newId, now, steadyMs: clock.steadyMs }),
    ...{ now, steadyMs: clock.steadyMs },
    onBroken: (error) => log.error('ledger failed and refuses all work until the service restarts', { error }),
  })
  await ledger.removeStaleMeters()
  const recovered = await recoverHolds(ledger)
  if (recovered > 0) log.warn('charged the open holds of the previous run', { requests: recovered })
  scope.own(sweepExpiredHolds({ ledger, log: log.forArea('credits') }), (it) => it.close())
  const history = createCreditHistory(createHistoryRepository(store.read))
  return { ledger, credits: createCredits({ ledger, history }) }
}

/** Composes the credits of users and programs. The owner's account starts with an initial balance. */
export async function composeCredits(
  context: ServiceContext,
  { ledger: ledgerModule, identity }: { ledger: LedgerModule; identity: IdentityModule },
): Promise<CreditModule> {
  const { options, clock, activity, callers } = context
  const { ledger } = ledgerModule
  const prices = readPriceList(options.pricesFile ?? join(installFolder, 'resources', 'prices.json'))
  const amount = centsToMicroUsd(options.ownerStartCents ?? ownerStartCents)
  const { owner: accountId, getRules } = identity
  if (amount > 0) {
    const keys = { accounts: [accountId], issues: true, transfers: [toStartId(accountId)] }
    const begin: LedgerWork<boolean> = (it) => it.begin({ accountId, amount, note: 'First credits' })
    await ledger.change(keys, begin, { isDurable: true })
  }
  const sandboxesCharged = options.chargeSandboxes ?? false
  const log = options.log.forArea('credits')
  const assertUnlimited = createUnlimitedCheck(getRules)
  return {
    prices,
    assertUnlimited,
    reservations: openReservations({ ledger, getRules, log }),
    billing: createSandboxBilling({ ledger, prices, isCharged: sandboxesCharged, clock, log }),
    capabilities: ['credits'],
    endpoints: callers.bindEndpoints(
      createCreditRoutes({
        ...{
          credits: ledgerModule.credits,
          prices,
          sandboxesCharged,
          getRules,
          assertUnlimited,
          findAccount: identity.findAccount,
        },
        recordForAccount: activity.recordForAccount,
        now: options.now,
      }),
    ),
  }
}
