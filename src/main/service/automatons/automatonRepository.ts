import type { ChainType } from '#shared/contract/wallet.ts'
import { defineStatement, type Query, type SqlText, type Transaction } from '#storage/store.ts'
import { anyText, defineTable, nullable, number, type Params, type RowOf, renameColumn, text } from '#storage/table.ts'

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
  name: anyText(),
  bio: anyText(),
  genesisPromptHash: nullable(text()),
  chainType: text<ChainType>(),
  payloadHash: text(),
  nonce: anyText(),
  signature: text(),
  createdAtMs: number(),
})
const nonces = defineTable('automaton_nonces', {
  nonce: anyText(),
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

/** Whether the creator had bound the nonce. Used nonces are retained for this check. */
const isBound = `EXISTS (SELECT 1 FROM automaton_nonces AS bound
  WHERE bound.nonce = automatons.nonce AND bound.creator_key = automatons.creator_key)`
const selection = `SELECT ${automatons.selection()} FROM automatons`
const newestFirst = 'ORDER BY created_at_ms DESC, automaton_id DESC LIMIT @limit'

/** Builds a statement for both engines. The parameter `keys` is a JSON array. */
function withKeys(build: (keys: string) => string): SqlText {
  return {
    sqlite: build('(SELECT value FROM json_each(@keys))'),
    postgres: build('(SELECT jsonb_array_elements_text(@keys::jsonb))'),
  }
}

/** Exported for the test of query plans. */
export const automatonStatements = {
  find: defineStatement<Params<'id'>>(`${selection} WHERE automaton_id = @id`).withRows(automatons.fromRow),
  add: defineStatement<Params<keyof AutomatonRecord>>(automatons.insert),
  listOfWallets: defineStatement<Params<'keys' | 'limit'>>(
    withKeys(
      (keys) => `${selection} WHERE automaton_id IN (
        SELECT automaton_id FROM automatons WHERE creator_key IN ${keys} AND ${isBound}
        UNION SELECT automaton_id FROM automatons WHERE automaton_key IN ${keys})
      ${newestFirst}`,
    ),
  ).withRows(automatons.fromRow),
  listNaming: defineStatement<Params<'keys' | 'limit'>>(
    withKeys(
      (keys) => `${selection} WHERE creator_key IN ${keys} AND NOT ${isBound} AND automaton_key NOT IN ${keys}
      ${newestFirst}`,
    ),
  ).withRows(automatons.fromRow),
  findNonce: defineStatement<Params<'nonce'>>(
    `SELECT ${nonces.selection()} FROM automaton_nonces WHERE nonce = @nonce`,
  ).withRows(nonces.fromRow),
  addNonce: defineStatement<Params<keyof NonceRecord>>(nonces.insert),
  trimNonces: defineStatement<Params<'creatorKey' | 'max'>>(
    `DELETE FROM automaton_nonces WHERE creator_key = @creatorKey AND used_at_ms IS NULL AND (expires_at_ms, nonce) <= (
       SELECT expires_at_ms, nonce FROM automaton_nonces WHERE creator_key = @creatorKey AND used_at_ms IS NULL
       ORDER BY expires_at_ms DESC, nonce DESC LIMIT 1 OFFSET @max)`,
  ),
  markUsed: defineStatement<Params<'nonce' | 'usedAtMs'>>(
    'UPDATE automaton_nonces SET used_at_ms = @usedAtMs WHERE nonce = @nonce',
  ),
  removeExpiredNonces: defineStatement<Params<'nowMs'>>(
    'DELETE FROM automaton_nonces WHERE expires_at_ms <= @nowMs AND used_at_ms IS NULL',
  ),
}

export const automatonRepository = {
  find(query: Query, id: string): Promise<AutomatonRecord | undefined> {
    return query.first(automatonStatements.find, { id })
  },
  async add(tx: Transaction, record: AutomatonRecord): Promise<void> {
    await tx.run(automatonStatements.add, automatons.params(record))
  },
  /**
   * Lists automatons with one of these addresses, and those whose creator has one of them and bound the nonce. Newest
   * first.
   */
  listOfWallets(query: Query, keys: readonly string[], limit: number): Promise<AutomatonRecord[]> {
    return query.all(automatonStatements.listOfWallets, { keys: JSON.stringify(keys), limit })
  },
  /**
   * Lists other automatons that name one of these addresses as their creator, which any client can do. Newest first.
   */
  listNaming(query: Query, keys: readonly string[], limit: number): Promise<AutomatonRecord[]> {
    return query.all(automatonStatements.listNaming, { keys: JSON.stringify(keys), limit })
  },
  findNonce(query: Query, nonce: string): Promise<NonceRecord | undefined> {
    return query.first(automatonStatements.findNonce, nonces.params({ nonce }))
  },
  async addNonce(tx: Transaction, nonce: NonceRecord): Promise<void> {
    await tx.run(automatonStatements.addNonce, nonces.params(nonce))
  },
  /** Removes all but the `max` unused nonces of a creator that expire last. */
  async trimNonces(tx: Transaction, creatorKey: string, max: number): Promise<void> {
    await tx.run(automatonStatements.trimNonces, { creatorKey, max })
  },
  async markUsed(tx: Transaction, nonce: string, usedAtMs: number): Promise<void> {
    await tx.run(automatonStatements.markUsed, nonces.params({ nonce, usedAtMs }))
  },
  async removeExpiredNonces(tx: Transaction, nowMs: number): Promise<void> {
    await tx.run(automatonStatements.removeExpiredNonces, { nowMs })
  },
}
