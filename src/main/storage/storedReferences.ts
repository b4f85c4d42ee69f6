/** Kind of thing that a stored column or setting names. */
export type ThingKind =
  | 'account'
  | 'api-key'
  | 'attachment'
  | 'conversation'
  | 'domain'
  | 'folder'
  | 'grant'
  | 'image'
  | 'intent'
  | 'keyring'
  | 'ledger-account'
  | 'message'
  | 'model'
  | 'payment'
  | 'port'
  | 'sandbox'
  | 'sign-in'
  | 'terminal'
  | 'tool-client'
  | 'tool-server'
  | 'wallet'
  | 'wallet-account'

/**
 * Action on a reference when its target is removed. `delete`: the row is deleted. `detach`: the reference is cleared.
 * `close`: the row ends with a message. `tell`: the row stays, and the user is notified. `refuse`: the target cannot be
 * removed while referenced. `history`: the row is a record and stays.
 */
export type OnRemoved = 'delete' | 'detach' | 'close' | 'tell' | 'refuse' | 'history'

export type Reference = {
  refersTo: ThingKind
  onRemoved: OnRemoved
  /**
   * Part that does so. `foreign-key` and `trigger` are checked against the schema. `holder` subscribes to the removals
   * of the other half. `slice` does it in the transaction of the removal, `use` whenever the reference is used.
   */
  by: 'foreign-key' | 'trigger' | 'holder' | 'slice' | 'use' | 'nothing'
  /** Reason for what is not obvious; always there for `history` and `use`. */
  why?: string
}
/** Column that looks like a reference and names nothing that can be removed. */
export type PlainColumn = { refersTo: null; why: string }

export type DeclaredColumn = Reference | PlainColumn | readonly Reference[]
/** All tables of a database, with each column that names a thing. A table without such columns is empty. */
export type StoredReferences = Readonly<Record<string, Readonly<Record<string, DeclaredColumn>>>>

/** Foreign key with `ON DELETE CASCADE`. */
export const deleteWith = (refersTo: ThingKind): Reference => ({ refersTo, onRemoved: 'delete', by: 'foreign-key' })
/** Foreign key with `ON DELETE SET NULL`. */
export const detachFrom = (refersTo: ThingKind): Reference => ({ refersTo, onRemoved: 'detach', by: 'foreign-key' })
/** Foreign key without an action. */
export const keeps = (refersTo: ThingKind): Reference => ({ refersTo, onRemoved: 'refuse', by: 'foreign-key' })
export const createHistory = (refersTo: ThingKind, why: string): Reference => ({
  ...{ refersTo, why },
  onRemoved: 'history',
  by: 'nothing',
})
export const plain = (why: string): PlainColumn => ({ refersTo: null, why })

export function toReferences(declared: DeclaredColumn): readonly Reference[] {
  if ('length' in declared) return declared
  return declared.refersTo === null ? [] : [declared]
}
