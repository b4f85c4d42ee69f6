import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { agentReferences } from '#agent/references/agentReferences.ts'
import { serviceReferences } from '#service/references/serviceReferences.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import {
  createHistory,
  type DeclaredColumn,
  type OnRemoved,
  plain,
  type Reference,
  type StoredReferences,
  toReferences,
} from '#storage/storedReferences.ts'

/**
 * Walks both schemas. Every column that looks like a reference must be declared, and every declared column must exist.
 */
const databases = [
  { name: 'service.sqlite', migrations: serviceMigrations, declared: serviceReferences as StoredReferences },
  { name: 'agent.sqlite', migrations: agentMigrations, declared: agentReferences as StoredReferences },
].map(({ migrations, ...rest }) => {
  const database = openDatabase(':memory:')
  migrate(database, migrations)
  return { ...rest, database }
})
afterAll(() => {
  for (const { database } of databases) database.close()
})

const root = join(import.meta.dirname, '../..')

/**
 * Names of text columns that do not refer to a table. Any other text column fails the test until it is declared as a
 * reference or added here.
 */
const unrelated: ReadonlySet<string> = new Set(
  [
    'about actor_kind actor_name agreed answer answer_body arguments requester_kind asset authorization base_url before',
    'bio body body_hash by_kind by_name bytes carried chain_type coin command day description digest ends_with',
    'enforced epoch error extra finish_reason genesis_prompt_hash hash if_version key_hash key_prefix kind label',
    'listed listed_prices media_type method name nameservers network nonce note notice operation output parameters',
    'part path pay_to payload payload_hash prefix previous_hash price problem problem_kind reasoning region registrar',
    'request_hash role runtime sandbox_name sha256 signature source_format state status status_reason subdomain',
    'summary system_prompt task text title token tool transaction_hash type usage usdc value visibility warnings',
    'words work',
  ].flatMap((line) => line.split(' ')),
)
/** Numeric references are foreign keys or match this pattern. */
const naming = /_(id|account|sandbox|wallet|domain|server|message|branch|port|parent)$/

type Column = { name: string; type: string; pk: number }
type ForeignKey = { from: string; table: string; on_delete: string }
const mayRefer = (name: string, type: string): boolean =>
  type === 'INTEGER' || type === 'REAL' ? naming.test(name) : !unrelated.has(name)
const listTables = (database: Database): string[] =>
  database
    .prepare<[], { name: string }>(
      `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'`,
    )
    .all()
    .map(({ name }) => name)
const listColumns = (database: Database, table: string) => database.pragma(`table_info(${table})`) as Column[]
const listForeignKeys = (database: Database, table: string) =>
  database.pragma(`foreign_key_list(${table})`) as ForeignKey[]
const listTriggers = (database: Database): string[] =>
  database
    .prepare<[], { sql: string }>(`SELECT sql FROM sqlite_master WHERE type = 'trigger'`)
    .all()
    .map(({ sql }) => sql)

const actions: Partial<Record<OnRemoved, readonly string[]>> = {
  delete: ['CASCADE'],
  detach: ['SET NULL'],
  refuse: ['NO ACTION', 'RESTRICT'],
}

describe.each(databases)('$name', ({ database, declared }) => {
  const tables = listTables(database)

  test('declares exactly the existing tables', () => {
    expect(Object.keys(declared).sort()).toEqual(tables.sort())
  })

  test.each(tables)('%s declares each column that refers to a resource', (table) => {
    const keys = listForeignKeys(database, table).map(({ from }) => from)
    const suspects = listColumns(database, table)
      .filter(({ name, type }) => keys.includes(name) || (name !== 'id' && mayRefer(name, type)))
      .map(({ name }) => name)
    const columns = declared[table] ?? {}
    expect(suspects.filter((name) => !Object.hasOwn(columns, name))).toEqual([])
    const columnNames = listColumns(database, table).map(({ name }) => name)
    expect(Object.keys(columns).filter((name) => !columnNames.includes(name))).toEqual([])
  })

  const cells = Object.entries(declared).flatMap(([table, columns]) =>
    Object.entries(columns).flatMap(([column, declaration]) =>
      toReferences(declaration).map((reference) => ({ table, column, ...reference })),
    ),
  )

  test('explains each reference that the schema does not enforce', () => {
    const unexplained = cells.filter(({ by, why }) => !['foreign-key', 'trigger'].includes(by) && !why)
    expect(unexplained).toEqual([])
    expect(cells.filter(({ by, onRemoved }) => (by === 'nothing') !== (onRemoved === 'history'))).toEqual([])
  })

  test.each(cells.filter(({ by }) => by === 'foreign-key'))('$table.$column has its foreign key', (cell) => {
    const key = listForeignKeys(database, cell.table).find(({ from }) => from === cell.column)
    expect(actions[cell.onRemoved]).toContain(key?.on_delete)
  })

  test.each(tables)('%s has no foreign key with a different declaration', (table) => {
    for (const { from } of listForeignKeys(database, table)) {
      const references = toReferences(declared[table]?.[from] ?? [])
      expect(references.map(({ by }: Reference) => by)).toContain('foreign-key')
    }
  })

  test.each(cells.filter(({ by }) => by === 'trigger'))('$table.$column has its trigger', ({ table, column }) => {
    const matching = listTriggers(database).filter((sql) => sql.includes(` ${table}`) && sql.includes(column))
    expect(matching.length).toBeGreaterThan(0)
  })
})

const removedByWindow: Reference = {
  refersTo: 'sandbox',
  onRemoved: 'delete',
  by: 'use',
  why: 'Removed when the list of sandboxes no longer has it.',
}

/** Settings outside tables that refer to entities: those of the window, in browser storage, and those of the agent. */
const settings: Readonly<Record<string, DeclaredColumn>> = {
  'steward.theme': plain('A word.'),
  'steward.section-labels': plain('A word.'),
  'steward.details.folds': plain('Names of parts of the window.'),
  'steward.palette.recent': plain('Names of commands; unknown ones are not shown.'),
  'steward.panels.': plain('A width.'),
  'steward.last-address.': plain('An address of the window; of a thing that is gone it shows the list.'),
  'steward.terminal.preferences': plain('Colors and behavior.'),
  'steward.terminal.renderer': plain('A word.'),
  'steward.terminal.clipboard.': createHistory('terminal', 'An answer of the user, until the window closes.'),
  'steward.terminals.side': plain('What is shown beside terminals.'),
  'steward.terminals.layout': removedByWindow,
  'steward.terminals.selection': removedByWindow,
  'steward.draft.': removedByWindow,
  'steward.uploads.': removedByWindow,
  'steward.link.': createHistory('sandbox', 'A terminal link in its own window, which the service refuses.'),
  'steward.chat.draft.': createHistory('conversation', 'Text of the user, which a restored chat shows again.'),
  'steward.chat.models': {
    ...{ refersTo: 'model', onRemoved: 'detach', by: 'use' },
    why: 'The next chat takes those that can be used, else the first of the list.',
  },
  'steward.purchase': plain('An order that was not sent, until the window closes.'),
  'steward.token.': plain('Name of a subprotocol.'),
  'steward.secure-prompt.size': plain('A message of a secure prompt.'),
  'steward.secure-prompt.done': plain('A message of a secure prompt.'),
  'steward.secure-prompt.cancelled': plain('A message of a secure prompt.'),
  'steward.window-key': plain('Key of the window itself.'),
  'wallet.auto_lock_minutes': plain('A number.'),
  'wallet.default_accounts': {
    ...{ refersTo: 'wallet-account', onRemoved: 'detach', by: 'use' },
    why: 'A missing default is the oldest account.',
  },
  'wallet.removing': { refersTo: 'keyring', onRemoved: 'close', by: 'slice', why: 'The removal is finished first.' },
}

test('declares the settings of the window and the local agent', () => {
  const sources = filesIn('src/renderer').filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
  const keys = [
    ...sources.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/['`](steward\.[a-z.-]+)/g)]),
    ...readFileSync(join(root, 'src/main/agent/wallet/walletSettings.ts'), 'utf8').matchAll(/'(wallet\.[a-z_]+)'/g),
  ].map(([, key = '']) => key)
  expect([...new Set(keys.map((key) => key.replace(/\.one$/, '.')))].sort()).toEqual(Object.keys(settings).sort())
})

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}
