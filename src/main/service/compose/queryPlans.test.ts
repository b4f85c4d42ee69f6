import { expect, test } from 'vitest'
import { AccountId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import type { AnyParams, Query, Statement } from '#storage/store.ts'
import { accountStatements } from '../accounts/accountRepository.ts'
import { accountActivityStatements } from '../activity/accountActivityRepository.ts'
import { activityStatements } from '../activity/activityRepository.ts'
import { accountRequestStatements } from '../auth/accountRequestRepository.ts'
import { refreshTokenStatements } from '../auth/refreshTokenRepository.ts'
import { walletStatements } from '../auth/walletRepository.ts'
import { automatonStatements } from '../automatons/automatonRepository.ts'
import { createHistoryRepository } from '../credits/historyRepository.ts'
import { createLedgerRepository } from '../credits/ledgerRepository.ts'
import { domainStatements } from '../domains/domainRepository.ts'
import { orderStatements } from '../domains/orderRepository.ts'
import { orphanedDomainStatements } from '../domains/orphanedDomainRepository.ts'
import { quoteStatements } from '../domains/quoteRepository.ts'
import { registryStatements } from '../domains/registrars/local/registryRepository.ts'
import { uploadStatements } from '../files/uploadRepository.ts'
import { answerStatements } from '../idempotency/answerRepository.ts'
import { paymentStatements } from '../payments/paymentRepository.ts'
import { portStatements } from '../ports/portRepository.ts'
import { portTokenStatements } from '../ports/portTokenRepository.ts'
import { removedThingStatements } from '../references/removedThingRepository.ts'
import { domainClaimStatements } from '../sandboxDomains/domainClaimRepository.ts'
import { sandboxDomainStatements } from '../sandboxDomains/sandboxDomainRepository.ts'
import { removalStatements } from '../sandboxes/foundSandboxRepository.ts'
import { sandboxStatements } from '../sandboxes/sandboxRepository.ts'
import { snapshotStatements } from '../snapshots/snapshotRepository.ts'
import { terminalLinkStatements } from '../terminals/terminalLinkRepository.ts'

/** Statements that run on every request or every few seconds must not scan growing tables. */
const repositories: Readonly<Record<string, (database: Database) => unknown>> = {
  ledger: createLedgerRepository,
}
/** `trimNonces` reads the open nonces of all creators, in the order of their index. */
const { trimNonces: _, ...indexedAutomatonStatements } = automatonStatements
/** Statements of the slices that run on the store. None may scan a table. */
const slices: Readonly<Record<string, Readonly<Record<string, Statement<AnyParams>>>>> = {
  domains: domainStatements,
  'domain orders': orderStatements,
  'orphaned domains': orphanedDomainStatements,
  quotes: quoteStatements,
  registry: registryStatements,
  ports: portStatements,
  'port tokens': portTokenStatements,
  'removed things': removedThingStatements,
  'sandbox removals': removalStatements,
  sandboxes: sandboxStatements,
  snapshots: snapshotStatements,
  automatons: indexedAutomatonStatements,
  answers: answerStatements,
  'terminal links': terminalLinkStatements,
  uploads: uploadStatements,
  payments: paymentStatements,
  'sandbox domains': sandboxDomainStatements,
  'domain claims': domainClaimStatements,
  accounts: accountStatements,
  wallets: walletStatements,
  'refresh tokens': refreshTokenStatements,
  'account requests': pickLookups(accountRequestStatements),
  'account activity': accountActivityStatements,
  activity: activityStatements,
}

/** The number of account requests is limited, so statements over all of them may scan. */
function pickLookups({ find, findOfWallet, add, remove }: typeof accountRequestStatements) {
  return { find, findOfWallet, add, remove }
}
const grown = 'credit_holds|credit_transfers|credit_accounts|idempotent_answers|payments|activity'

function collectStatements(open: (database: Database) => unknown): { database: Database; statements: string[] } {
  const database = openDatabase(':memory:')
  migrate(database, serviceMigrations)
  const statements: string[] = []
  const prepare = database.prepare.bind(database)
  open(
    new Proxy(database, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (name !== 'prepare') return typeof value === 'function' ? value.bind(target) : value
        return (sql: string) => {
          statements.push(sql)
          return prepare(sql)
        }
      },
    }),
  )
  return { database, statements }
}

function explain(database: Database, sql: string): string[] {
  const names = [...sql.matchAll(/[:@](\w+)/g)].map(([, name]) => [name, null])
  const parameters = [...sql.matchAll(/\?/g)].map(() => null)
  const plan = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
  return plan.all(...parameters, ...(names.length > 0 ? [Object.fromEntries(names)] : [])).map(({ detail }) => detail)
}

test.each(Object.entries(repositories))('%s', (_, open) => {
  const { database, statements } = collectStatements(open)
  const scans = statements.flatMap((sql) => {
    const isBounded = /ORDER BY \w+ LIMIT/.test(sql) // reads only the first rows in table or index order
    const scan = explain(database, sql).filter((it) => new RegExp(`^SCAN (${grown})(?! USING)`).test(it))
    return scan.length > 0 && !isBounded ? [{ sql, scan }] : []
  })
  expect(statements.length).toBeGreaterThan(0)
  expect(scans).toEqual([])
})

test.each(Object.entries(slices))('%s', (_, statements) => {
  const database = openDatabase(':memory:')
  migrate(database, serviceMigrations)
  const scans = Object.entries(statements).flatMap(([name, { sqlite }]) => {
    const scan = explain(database, sqlite).filter((detail) =>
      /^SCAN (?!CONSTANT ROW|json_each|ordered|\(subquery)/.test(detail),
    )
    return scan.length > 0 ? [{ name, scan }] : []
  })
  expect(scans).toEqual([])
})

test('credit history', async () => {
  const database = openDatabase(':memory:')
  migrate(database, serviceMigrations)
  const statements: Statement<AnyParams>[] = []
  const collect: Query = {
    async first(statement, ..._params) {
      statements.push(statement)
      return undefined
    },
    async all(statement, ..._params) {
      statements.push(statement)
      return []
    },
  }
  const history = createHistoryRepository(collect)
  const account = AccountId.parse('a'.repeat(32))
  const range = { above: 0, below: 1 }
  await history.newest()
  await history.entries(account)
  await history.sums(account, { from: 0, to: 1 }, 'day,model')
  for (const filters of [
    {},
    { type: 'transfer_in' },
    { keyId: 'key', fromMs: 0, beforeMs: 1, text: 'text' },
  ] as const) {
    await history.stretch(account, filters, { ...range, limit: 1, offset: 0 })
    await history.count(account, filters, range)
  }
  const scans = statements.flatMap(({ sqlite }) =>
    explain(database, sqlite).filter((it) => /^SCAN (entry|refund|credit_)/.test(it)),
  )
  expect(statements).toHaveLength(9)
  expect(scans).toEqual([])
})
