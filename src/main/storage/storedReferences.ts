/** Kind of resource that a stored column or setting refers to. */
export type ResourceKind =
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
 * `close`: the row ends with a message. `tell`: the row remains, and the user is notified. `refuse`: the target cannot
 * be removed while referenced. `history`: the row is a record and remains.
 */
export type OnRemoved = 'delete' | 'detach' | 'close' | 'tell' | 'refuse' | 'history'

export type Reference = {
  refersTo: ResourceKind
  onRemoved: OnRemoved
  /**
   * Component that performs the action. `foreign-key` and `trigger` are checked against the schema. `holder` subscribes
   * to removals in the other process. `slice` runs in the transaction of the removal, `use` when the reference is used.
   */
  by: 'foreign-key' | 'trigger' | 'holder' | 'slice' | 'use' | 'nothing'
  /** Reason, if not obvious. Always present for `history` and `use`. */
  why?: string
}
/** Column that looks like a reference but does not refer to a removable resource. */
export type PlainColumn = { refersTo: null; why: string }

export type DeclaredColumn = Reference | PlainColumn | readonly Reference[]
/** All tables of a database with their reference columns. A table without references is empty. */
export type StoredReferences = Readonly<Record<string, Readonly<Record<string, DeclaredColumn>>>>

/** Foreign key with `ON DELETE CASCADE`. */
export const deleteWith = (refersTo: ResourceKind): Reference => ({ refersTo, onRemoved: 'delete', by: 'foreign-key' })
/** Foreign key with `ON DELETE SET NULL`. */
export const detachFrom = (refersTo: ResourceKind): Reference => ({ refersTo, onRemoved: 'detach', by: 'foreign-key' })
/** Foreign key without an action. */
export const restrictTo = (refersTo: ResourceKind): Reference => ({ refersTo, onRemoved: 'refuse', by: 'foreign-key' })
export const createHistory = (refersTo: ResourceKind, why: string): Reference => ({
  ...{ refersTo, why },
  onRemoved: 'history',
  by: 'nothing',
})
export const plain = (why: string): PlainColumn => ({ refersTo: null, why })

export function toReferences(declared: DeclaredColumn): readonly Reference[] {
  if ('length' in declared) return declared
  return declared.refersTo === null ? [] : [declared]
}
