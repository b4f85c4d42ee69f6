/** Kinds of things of a service that the agent's data refers to. */
export type RemovedKind = 'sandbox' | 'key' | 'domain'

export type RemovedThing = {
  kind: RemovedKind
  /** The name of a domain. */
  id: string
  /** The last one, for sentences. */
  name: string
}

/** Part of the agent whose stored data refers to things of one kind. */
export type ReferenceHolder = {
  kind: RemovedKind
  /** Ids that its data names now. A removal that no outbox tells of is found by comparing them. */
  referred?: () => readonly string[]
  /** Applies what the register declares. Must be idempotent: a removal may be delivered more than once. */
  onRemoved: (thing: RemovedThing) => void
}

/** Delivers removals to the parts whose data refers to them. */
export type RemovedThings = {
  /** @returns the unsubscribe function */
  subscribe(holder: ReferenceHolder): () => void
  /** Ids that data of the agent names. */
  listReferred(kind: RemovedKind): ReadonlySet<string>
  /** @throws the first error of a holder, after all have been called */
  deliver(thing: RemovedThing): void
}

export function createRemovedThings(): RemovedThings {
  const holders = new Set<ReferenceHolder>()
  return {
    subscribe(holder) {
      holders.add(holder)
      return () => void holders.delete(holder)
    },
    listReferred: (kind) =>
      new Set([...holders].flatMap((holder) => (holder.kind === kind ? (holder.referred?.() ?? []) : []))),
    deliver(thing) {
      const errors: unknown[] = []
      for (const holder of holders) {
        if (holder.kind !== thing.kind) continue
        try {
          holder.onRemoved(thing)
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw errors[0]
    },
  }
}
