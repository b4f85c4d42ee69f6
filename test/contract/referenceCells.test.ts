import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agentReferences } from '#agent/references/agentReferences.ts'
import { serviceReferences } from '#service/references/serviceReferences.ts'
import { type Migration, migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { type Reference, type ResourceKind, type StoredReferences, toReferences } from '#storage/storedReferences.ts'

/**
 * Tests each declared reference by removing the target and reading the row. References enforced by the schema are
 * tested here with generated rows. References enforced by code have tests listed in `proofs`.
 */
type Cell = Reference & { table: string; column: string }
const databases: { name: string; migrations: readonly Migration[]; declared: StoredReferences }[] = [
  { name: 'service', migrations: serviceMigrations, declared: serviceReferences },
  { name: 'agent', migrations: agentMigrations, declared: agentReferences },
]
const listCells = (declared: StoredReferences): Cell[] =>
  Object.entries(declared).flatMap(([table, columns]) =>
    Object.entries(columns).flatMap(([column, declaration]) =>
      toReferences(declaration).map((reference) => ({ table, column, ...reference })),
    ),
  )

type Column = { name: string; type: string; pk: number }
type ForeignKey = { id: number; from: string; to: string; table: string }
type Row = Record<string, unknown>
const listColumns = (database: Database, table: string) => database.pragma(`table_info(${table})`) as Column[]
const listForeignKeys = (database: Database, table: string) =>
  database.pragma(`foreign_key_list(${table})`) as ForeignKey[]

let sequence = 0
/** Inserts a row with generated values and the rows that its foreign keys require. */
function insertRow(database: Database, table: string, overrides: Row = {}): Row {
  const row: Row = { ...overrides }
  const keys = listForeignKeys(database, table)
  for (const id of new Set(keys.map((key) => key.id))) {
    const parts = keys.filter((key) => key.id === id)
    if (parts.every(({ from }) => row[from] !== undefined)) continue
    const [first] = parts
    if (!first || (first.table === table && overrides[first.from] === undefined)) continue
    const parent = insertRow(database, first.table)
    for (const { from, to } of parts) row[from] = parent[to]
  }
  for (const { name, type } of listColumns(database, table)) {
    if (row[name] !== undefined || keys.some(({ from }) => from === name)) continue
    sequence += 1
    row[name] = type === 'INTEGER' ? sequence : type === 'BLOB' ? Buffer.from(`blob ${sequence}`) : `text ${sequence}`
  }
  const names = Object.keys(row)
  const values = names.map(() => '?').join(', ')
  database.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${values})`).run(...Object.values(row))
  return row
}
const findRow = (database: Database, table: string, row: Row): Row | undefined => {
  const keys = listColumns(database, table).filter(({ pk }) => pk > 0)
  const condition = keys.map(({ name }) => `${name} = ?`).join(' AND ')
  return database
    .prepare<unknown[], Row>(`SELECT * FROM ${table} WHERE ${condition}`)
    .get(...keys.map(({ name }) => row[name]))
}
const removeRow = (database: Database, table: string, row: Row): void => {
  const keys = listColumns(database, table).filter(({ pk }) => pk > 0)
  const condition = keys.map(({ name }) => `${name} = ?`).join(' AND ')
  database.prepare(`DELETE FROM ${table} WHERE ${condition}`).run(...keys.map(({ name }) => row[name]))
}

describe.each(databases)('$name', ({ migrations, declared }) => {
  let database: Database
  beforeEach(() => {
    database = openDatabase(':memory:')
    migrate(database, migrations)
    database.pragma('ignore_check_constraints = ON')
  })
  afterEach(() => database.close())
  const cells = listCells(declared)

  const assertOutcome = ({ table, column, onRemoved }: Cell, child: Row, remove: () => void): void => {
    if (onRemoved === 'refuse') {
      expect(remove).toThrow(/FOREIGN KEY/)
      expect(findRow(database, table, child)).toBeDefined()
      return
    }
    remove()
    if (onRemoved === 'delete') expect(findRow(database, table, child)).toBeUndefined()
    else expect(findRow(database, table, child)).toMatchObject({ [column]: null })
  }

  test.each(cells.filter(({ by }) => by === 'foreign-key'))(
    '$table.$column: removal of the $refersTo causes $onRemoved',
    (cell) => {
      const { table, column } = cell
      const key = listForeignKeys(database, table).find(({ from }) => from === column)
      const isItself = key?.table === table
      const values = isItself ? { [column]: insertRow(database, table)[key?.to ?? ''] } : {}
      const child = insertRow(database, table, values)
      const parts = listForeignKeys(database, table).filter(({ id }) => id === key?.id)
      const parentTable = key?.table ?? ''
      const condition = parts.map(({ to }) => `${to} = ?`).join(' AND ')
      const parent = database
        .prepare<unknown[], Row>(`SELECT * FROM ${parentTable} WHERE ${condition}`)
        .get(...parts.map(({ from }) => child[from]))
      if (!parent) expect.unreachable('The row that is referred to is missing.')
      // Triggers of the journal reject every removal before the foreign key is checked.
      for (const { name } of journalTriggers(database)) database.exec(`DROP TRIGGER ${name}`)
      assertOutcome(cell, child, () => removeRow(database, parentTable, parent))
    },
  )

  test.each(cells.filter(({ by }) => by === 'trigger'))(
    '$table.$column: removal of the $refersTo causes $onRemoved',
    (cell) => {
      const parentTable = tablesOfThings[cell.refersTo] ?? expect.unreachable(`No table of a ${cell.refersTo}.`)
      const parent = insertRow(database, parentTable)
      if (cell.column === 'tools') {
        const tools = JSON.stringify({ enabled: true, servers: ['tsv_other', parent.id] })
        const child = insertRow(database, cell.table, { tools })
        removeRow(database, parentTable, parent)
        const { tools: after } = findRow(database, cell.table, child) ?? {}
        expect(JSON.parse(String(after))).toEqual({ enabled: true, servers: ['tsv_other'] })
        return
      }
      const child = insertRow(database, cell.table, { [cell.column]: parent.id })
      const otherRow = insertRow(database, cell.table)
      assertOutcome(cell, child, () => removeRow(database, parentTable, parent))
      expect(findRow(database, cell.table, otherRow)).toBeDefined()
    },
  )
})

function journalTriggers(database: Database): { name: string }[] {
  return database
    .prepare<[], { name: string }>(`SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%RAISE(ABORT%'`)
    .all()
}

const tablesOfThings: Partial<Record<ResourceKind, string>> = {
  sandbox: 'sandboxes',
  'tool-server': 'tool_servers',
  'wallet-account': 'wallet_accounts',
}

type Proof = { file: string; title: string }
const integration = (name: string, title: string): Proof => ({ file: `test/integration/${name}.test.ts`, title })
const unit = (name: string, title: string): Proof => ({ file: `src/main/${name}.test.ts`, title })
/** Test in the table of principals and their work. */
const proveByIntegration = (cell: string): Proof => integration('endedAuthority', `async '${cell}'`)
/** Tests for references enforced by code, by table, column and referenced entity. */
const proofs: Record<string, Proof> = {
  'service: api_keys.models, model': {
    file: 'src/renderer/features/settings/keys/missingModels.test.ts',
    title: 'lists the removed models of a key',
  },
  'service: payments.sandbox_id, sandbox': integration(
    'orderedSandbox',
    'a sandbox is busy during its domain purchase and can be deleted afterwards',
  ),
  'service: sandboxes.image, image': integration(
    'serviceImages',
    'an added image emits events and remains undeletable while a sandbox uses it',
  ),
  'service: terminal_links.issuer_sign_in, sign-in': integration('principalEnds', '$kind that ends'),
  'service: port_tokens.issuer_sign_in, sign-in': integration('principalEnds', '$kind that ends'),
  'service: refresh_tokens.caip10, wallet': integration(
    'signIn',
    'a wallet linked to the owner signs in as the owner until unlinked',
  ),
  'service: sandbox_domains.port, port': integration(
    'removedThings',
    'a domain loses verification when its port closes and regains it when exposed',
  ),
  'service: sandbox_meters.sandbox_id, sandbox': integration(
    'removedThings',
    'a deleted sandbox has no meter after the next start',
  ),
  'agent: agent_settings.value, wallet-account': unit(
    'agent/wallet/walletSettings',
    'a removed default account is replaced by the first on its chain',
  ),
  'agent: agent_settings.value, keyring': unit(
    'agent/wallet/walletSettings',
    'lists a keyring as being removed until its secret is deleted',
  ),
  'agent: wallet_links.address, wallet-account': integration(
    'walletRemoval',
    'a removed key that Steward linked no longer signs in as the owner',
  ),
  'agent: sign_in_wallets.wallet_account, wallet-account': integration(
    'hostedService',
    'is signed out when removed without another account signing in unasked',
  ),
  'agent: intents.requester_id, tool-client': proveByIntegration('tool × request'),
  'agent: intents.requester_id, conversation': proveByIntegration('chat × request'),
  'agent: intents.requester_id, api-key': integration('endedAuthority', 'async request({ add, sentence })'),
  'agent: intents.intent, sandbox': integration(
    'judgedAtUse',
    'a deletion request ends without an approval entry when the user deletes the sandbox',
  ),
  'agent: intents.intent, domain': integration('removedThings', 'denies a waiting chat request to change it'),
  'agent: intents.intent, tool-server': integration('toolServers', 'refuses a waiting call when its server is removed'),
  'agent: intents.intent, wallet-account': proveByIntegration('wallet × request'),
  'agent: grants.requester, tool-client': proveByIntegration('tool × grant'),
  'agent: grants.requester, conversation': proveByIntegration('chat × grant'),
  'agent: grants.requester, api-key': integration('endedAuthority', 'async grant({ add })'),
  'agent: grants.scope, sandbox': integration('judgedAtUse', 'a remembered approval ends with its sandbox'),
  'agent: grants.scope, domain': integration('removedThings', 'revokes remembered approvals to change it'),
  'agent: grants.scope, tool-server': integration(
    'toolServers',
    'removing a server revokes remembered approvals, and a namesake needs new approval',
  ),
  'agent: provider_keys.slot, tool-server': unit(
    'agent/toolServers/toolServers',
    'removes the secrets of a server with it',
  ),
  'agent: provider_keys.slot, model': unit('agent/providers/modelServers', 'removes the key of a server with it'),
  'agent: chat_conversations.models, model': integration(
    'removedThings',
    'a chat reports an unavailable model and preserves its model choice',
  ),
  'agent: chat_conversations.tools, sandbox': integration(
    'removedThings',
    'is detached from its chats and no longer offered to models',
  ),
  'agent: tool_calls.holder, tool-client': proveByIntegration('tool × tool-call'),
  'agent: tool_calls.holder, conversation': proveByIntegration('chat × tool-call'),
  'agent: tool_calls.given, sandbox': integration(
    'judgedAtUse',
    'a deletion request ends without an approval entry when the user deletes the sandbox',
  ),
  'agent: program_sandboxes.sandbox_id, sandbox': integration(
    'judgedAtUse',
    'the next start deletes a sandbox left by a program, which stops when idle',
  ),
  'agent: domain_renewals.domain, domain': integration(
    'removedThings',
    'is reported missing by its auto-renewal, which the user can turn off',
  ),
  'agent: tool_servers.place, sandbox': integration(
    'removedThings',
    'disables its tool server immediately and records the reason',
  ),
}

describe('references enforced by the program', () => {
  const cells = databases.flatMap(({ name, declared }) =>
    listCells(declared)
      .filter(({ by }) => by === 'holder' || by === 'slice' || by === 'use')
      .map((cell) => ({ id: `${name}: ${cell.table}.${cell.column}, ${cell.refersTo}`, ...cell })),
  )

  test.each(cells)('$id has a test for $onRemoved', ({ id }) => {
    const proof = proofs[id]
    expect(proof, `Name the test of ${id} in \`proofs\`.`).toBeDefined()
    const text = readFileSync(join(import.meta.dirname, '../..', proof?.file ?? ''), 'utf8')
    expect(text).toContain(proof?.title)
  })

  test('every listed test covers a declared reference', () => {
    expect(Object.keys(proofs).filter((id) => !cells.some((cell) => cell.id === id))).toEqual([])
  })
})
