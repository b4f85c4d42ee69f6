import type { ChainType } from '../../../shared/contract/wallet.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type AutomatonRecord = {
  /** Lower case without dashes: one identity, however its id is written. */
  id: string
  sentId: string
  automatonAddress: string
  creatorAddress: string
  /** For comparison: EVM in lower case, Solana as it is. */
  automatonKey: string
  creatorKey: string
  name: string
  bio: string
  genesisPromptHash: string | null
  chainType: ChainType
  payloadHash: string
  nonce: string
  signature: string
  createdAtMs: number
}

export type NonceRecord = {
  nonce: string
  /** Null: a client's own, kept because it was used. */
  creatorKey: string | null
  /** Of a bound one: the automaton that it is for, if it is for one only. */
  automatonId: string | null
  usedAtMs: number | null
  /** Of a bound one that waits. */
  expiresAtMs: number | null
}

export type AutomatonRepository = {
  find(id: string): AutomatonRecord | undefined
  add(record: AutomatonRecord): void
  /** Whose own address is one of these, or whose creator is and had bound the nonce; newest first. */
  ofWallets(keys: readonly string[], limit: number): AutomatonRecord[]
  /** The others that name one of these as their creator, which anybody may; newest first. */
  naming(keys: readonly string[], limit: number): AutomatonRecord[]
  findNonce(nonce: string): NonceRecord | undefined
  addNonce(nonce: NonceRecord): void
  /** Of a creator's bound nonces that wait, keeps the `most` that end last. */
  trimNonces(creatorKey: string, most: number): void
  markUsed(nonce: string, atMs: number): void
  removeExpiredNonces(nowMs: number): void
  atomically<T>(work: () => T): T
}

const columns = `automaton_id AS id, sent_automaton_id AS sentId, automaton_address AS automatonAddress,
  creator_address AS creatorAddress, automaton_key AS automatonKey, creator_key AS creatorKey, name, bio,
  genesis_prompt_hash AS genesisPromptHash, chain_type AS chainType, payload_hash AS payloadHash, nonce, signature,
  created_at_ms AS createdAtMs`

/** Used nonces are kept, so they tell whether the creator had bound it. */
const isBound = `EXISTS (SELECT 1 FROM automaton_nonces AS bound
  WHERE bound.nonce = automatons.nonce AND bound.creator_key = automatons.creator_key)`

export function automatonRepository(database: Database): AutomatonRepository {
  const find = database.prepare<[string], AutomatonRecord>(`SELECT ${columns} FROM automatons WHERE automaton_id = ?`)
  const add = database.prepare<[AutomatonRecord]>(
    `INSERT INTO automatons VALUES (:id, :sentId, :automatonAddress, :creatorAddress, :automatonKey, :creatorKey, :name,
       :bio, :genesisPromptHash, :chainType, :payloadHash, :nonce, :signature, :createdAtMs)`,
  )
  const ofWallets = database.prepare<[string, string, number], AutomatonRecord>(
    `SELECT ${columns} FROM automatons WHERE rowid IN (
       SELECT rowid FROM automatons WHERE creator_key IN (SELECT value FROM json_each(?)) AND ${isBound}
       UNION SELECT rowid FROM automatons WHERE automaton_key IN (SELECT value FROM json_each(?)))
     ORDER BY created_at_ms DESC, rowid DESC LIMIT ?`,
  )
  const naming = database.prepare<[string, string, number], AutomatonRecord>(
    `SELECT ${columns} FROM automatons WHERE creator_key IN (SELECT value FROM json_each(?)) AND NOT ${isBound}
       AND automaton_key NOT IN (SELECT value FROM json_each(?))
     ORDER BY created_at_ms DESC, rowid DESC LIMIT ?`,
  )
  const findNonce = database.prepare<[string], NonceRecord>(
    `SELECT nonce, creator_key AS creatorKey, automaton_id AS automatonId, used_at_ms AS usedAtMs,
       expires_at_ms AS expiresAtMs FROM automaton_nonces WHERE nonce = ?`,
  )
  const addNonce = database.prepare<[NonceRecord]>(
    'INSERT INTO automaton_nonces VALUES (:nonce, :creatorKey, :automatonId, :usedAtMs, :expiresAtMs)',
  )
  const trimNonces = database.prepare<[string, number]>(
    `DELETE FROM automaton_nonces WHERE nonce IN (
       SELECT nonce FROM automaton_nonces WHERE creator_key = ? AND used_at_ms IS NULL
       ORDER BY expires_at_ms DESC, rowid DESC LIMIT -1 OFFSET ?)`,
  )
  const markUsed = database.prepare<[number, string]>('UPDATE automaton_nonces SET used_at_ms = ? WHERE nonce = ?')
  const removeExpired = database.prepare<[number]>(
    'DELETE FROM automaton_nonces WHERE expires_at_ms <= ? AND used_at_ms IS NULL',
  )

  return {
    find: (id) => find.get(id),
    add(record) {
      add.run(record)
    },
    ofWallets(keys, limit) {
      const list = JSON.stringify(keys)
      return ofWallets.all(list, list, limit)
    },
    naming(keys, limit) {
      const list = JSON.stringify(keys)
      return naming.all(list, list, limit)
    },
    findNonce: (nonce) => findNonce.get(nonce),
    addNonce(nonce) {
      addNonce.run(nonce)
    },
    trimNonces(creatorKey, most) {
      trimNonces.run(creatorKey, most)
    },
    markUsed(nonce, atMs) {
      markUsed.run(atMs, nonce)
    },
    removeExpiredNonces(nowMs) {
      removeExpired.run(nowMs)
    },
    atomically: (work) => database.transaction(work).immediate(),
  }
}
