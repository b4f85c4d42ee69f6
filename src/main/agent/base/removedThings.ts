/** Kinds of service resources that the agent's data refers to. */
export type RemovedKind = 'sandbox' | 'key' | 'domain'

export type RemovedThing = {
  kind: RemovedKind
  /** Id, or the name of a domain. */
  id: string
  /** Last known name, for texts. */
  name: string
}

/** Component whose stored data refers to resources of one kind. */
export type ReferenceHolder = {
  kind: RemovedKind
  /** Returns the ids currently referenced. Comparing them reveals removals that the outbox did not report. */
  referred?: () => readonly string[]
  /**
   * Applies the effects that the register declares. Must be idempotent, because a removal may be delivered more than
   * once.
   */
  onRemoved: (thing: RemovedThing) => void
}

/** Delivers removals to the components whose data refers to them. */
export type RemovedThings = {
  /** @returns the unsubscribe function */
  subscribe(holder: ReferenceHolder): () => void
  /** Ids that the agent's data refers to. */
  listReferred(kind: RemovedKind): ReadonlySet<string>
  /** @throws the first error of a holder, after all holders were called */
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
