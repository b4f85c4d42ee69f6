import type { ChainType } from '#shared/contract/wallet.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  defineTable,
  nullable,
  number,
  type Params,
  type RowOf,
  renameColumn,
  type StoredRow,
  text,
} from '#storage/table.ts'

const automatons = defineTable('automatons', {
  /** Canonical id: lower case without dashes. */
  id: renameColumn('automaton_id', text()),
  /** Id as sent by the client. */
  sentId: renameColumn('sent_automaton_id', text()),
  automatonAddress: text(),
  creatorAddress: text(),
  /** Address for comparison: lower case for EVM, unchanged for Solana. */
  automatonKey: text(),
  creatorKey: text(),
  name: text(),
  bio: text(),
  genesisPromptHash: nullable(text()),
  chainType: text<ChainType>(),
  payloadHash: text(),
  nonce: text(),
  signature: text(),
  createdAtMs: number(),
})
const nonces = defineTable('automaton_nonces', {
  nonce: text(),
  /** Creator that a nonce is bound to. Null for a used nonce that a client chose. */
  creatorKey: nullable(text()),
  /** Automaton that a bound nonce is limited to, if any. */
  automatonId: nullable(text()),
  usedAtMs: nullable(number()),
  /** Null for a nonce that a client chose. */
  expiresAtMs: nullable(number()),
})
export type AutomatonRecord = RowOf<typeof automatons>
export type NonceRecord = RowOf<typeof nonces>

export type AutomatonRepository = {
  find(id: string): AutomatonRecord | undefined
  add(record: AutomatonRecord): void
  /**
   * Lists automatons with one of these addresses, and those whose creator has one of them and bound the nonce. Newest
   * first.
   */
  ofWallets(keys: readonly string[], limit: number): AutomatonRecord[]
  /**
   * Lists other automatons that name one of these addresses as their creator, which any client can do. Newest first.
   */
  naming(keys: readonly string[], limit: number): AutomatonRecord[]
  findNonce(nonce: string): NonceRecord | undefined
  addNonce(nonce: NonceRecord): void
  /** Removes all but the `max` unused nonces of a creator that expire last. */
  trimNonces(creatorKey: string, max: number): void
  markUsed(nonce: string, atMs: number): void
  removeExpiredNonces(nowMs: number): void
  atomically<T>(work: () => T): T
}

/** Whether the creator had bound the nonce. Used nonces are retained for this check. */
const isBound = `EXISTS (SELECT 1 FROM automaton_nonces AS bound
  WHERE bound.nonce = automatons.nonce AND bound.creator_key = automatons.creator_key)`
/** `keys` is a JSON array. */
const keys = '(SELECT value FROM json_each(@keys))'

export function createAutomatonRepository(database: Database): AutomatonRepository {
  const selection = `SELECT ${automatons.selection()} FROM automatons`
  const newestFirst = 'ORDER BY created_at_ms DESC, rowid DESC LIMIT @limit'
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE automaton_id = @id`)
  const add = database.prepare<[Params<keyof AutomatonRecord>]>(automatons.insert)
  const ofWallets = database.prepare<[Params<'keys' | 'limit'>], StoredRow>(
    `${selection} WHERE automaton_id IN (
       SELECT automaton_id FROM automatons WHERE creator_key IN ${keys} AND ${isBound}
       UNION SELECT automaton_id FROM automatons WHERE automaton_key IN ${keys})
     ${newestFirst}`,
  )
  const naming = database.prepare<[Params<'keys' | 'limit'>], StoredRow>(
    `${selection} WHERE creator_key IN ${keys} AND NOT ${isBound} AND automaton_key NOT IN ${keys} ${newestFirst}`,
  )
  const findNonce = database.prepare<[Params<'nonce'>], StoredRow>(
    `SELECT ${nonces.selection()} FROM automaton_nonces WHERE nonce = @nonce`,
  )
  const addNonce = database.prepare<[Params<keyof NonceRecord>]>(nonces.insert)
  const trimNonces = database.prepare<[Params<'creatorKey' | 'most'>]>(
    `DELETE FROM automaton_nonces WHERE creator_key = @creatorKey AND used_at_ms IS NULL AND (expires_at_ms, rowid) <= (
       SELECT expires_at_ms, rowid FROM automaton_nonces WHERE creator_key = @creatorKey AND used_at_ms IS NULL
       ORDER BY expires_at_ms DESC, rowid DESC LIMIT 1 OFFSET @most)`,
  )
  const markUsed = database.prepare<[Params<'nonce' | 'atMs'>]>(
    'UPDATE automaton_nonces SET used_at_ms = @atMs WHERE nonce = @nonce',
  )
  const removeExpired = database.prepare<[Params<'nowMs'>]>(
    'DELETE FROM automaton_nonces WHERE expires_at_ms <= @nowMs AND used_at_ms IS NULL',
  )

  return {
    find(id) {
      const row = find.get({ id })
      return row && automatons.fromRow(row)
    },
    add: (record) => void add.run(automatons.params(record)),
    ofWallets: (addresses, limit) => ofWallets.all({ keys: JSON.stringify(addresses), limit }).map(automatons.fromRow),
    naming: (addresses, limit) => naming.all({ keys: JSON.stringify(addresses), limit }).map(automatons.fromRow),
    findNonce(nonce) {
      const row = findNonce.get({ nonce })
      return row && nonces.fromRow(row)
    },
    addNonce: (nonce) => void addNonce.run(nonces.params(nonce)),
    trimNonces: (creatorKey, max) => void trimNonces.run({ creatorKey, most: max }),
    markUsed: (nonce, atMs) => void markUsed.run({ nonce, atMs }),
    removeExpiredNonces: (nowMs) => void removeExpired.run({ nowMs }),
    atomically: (work) => database.transaction(work).immediate(),
  }
}
