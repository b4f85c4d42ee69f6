import { AppError } from '#shared/appError.ts'
import { getDomain } from '#shared/contract/domains.ts'
import { DomainName } from '#shared/contract/sandboxDomains.ts'
import { getSandbox } from '#shared/contract/sandboxes.ts'
import type { Tool } from '#shared/contract/tools/tool.ts'
import { SandboxId } from '#shared/ids.ts'
import type { Target } from '../base/evaluateAction.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RemovedThings } from '../base/removedThings.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'

/** Tracks removed sandboxes and domains, based on events and responses of the service. */
export type ActionTargets = {
  isRemoved(target: Target): boolean
  /** Queries the service for 3 s at most. Targets without a result are not changed. */
  refresh(targets: readonly Target[]): Promise<void>
  close(): void
}

type Options = {
  client: Pick<ServiceClient, 'call'>
  events: Pick<LocalEvents, 'subscribe'>
  removed: Pick<RemovedThings, 'subscribe'>
  /** Called when a target is known to be removed. */
  onRemoved: () => void
  hasToolServer: (name: string) => boolean
}

const timeoutMs = 3_000
/**
 * Maximum number of marks. Discarding old ones is safe: sandbox ids are never reused, and the service rejects deleted
 * ones.
 */
const maxRemoved = 10_000

/**
 * Returns the targets of a call that may be removed later. Domains count only for destructive calls, because other
 * calls may name domains of others.
 */
export function listTargets({ effect }: Pick<Tool, 'effect'>, args: Readonly<Record<string, unknown>>): Target[] {
  const { sandbox_id: sandbox, domain } = args
  const targets: Target[] = []
  if (typeof sandbox === 'string') targets.push({ kind: 'sandbox', id: sandbox })
  if (typeof domain === 'string' && effect === 'destroy') targets.push({ kind: 'domain', id: domain.toLowerCase() })
  return targets
}

export function createActionTargets({ client, events, removed, onRemoved, hasToolServer }: Options): ActionTargets {
  const removedTargets = new Set<string>()
  const addRemoved = (key: string): void => {
    if (removedTargets.size >= maxRemoved) removedTargets.clear()
    removedTargets.add(key)
  }
  const subscriptions = (['sandbox', 'domain'] as const).map((kind) =>
    removed.subscribe({
      kind,
      onRemoved({ id }) {
        addRemoved(toKey({ kind, id }))
        onRemoved()
      },
    }),
  )
  const unsubscribe = events.subscribe((event) => {
    if (event.type === 'sandbox.removed') {
      addRemoved(toKey({ kind: 'sandbox', id: event.id }))
      onRemoved()
    }
    // Deleted targets may exist again in a restored database.
    if (event.type === 'ready') removedTargets.clear()
    if (event.type === 'sandbox.changed') removedTargets.delete(toKey({ kind: 'sandbox', id: event.sandbox.id }))
    if (event.type === 'domains.changed') {
      for (const key of removedTargets) if (key.startsWith('domain ')) removedTargets.delete(key)
    }
  })
  /** @throws AppError such as `sandbox/not-found` */
  const read = async ({ kind, id }: Target): Promise<void> => {
    const options = { signal: AbortSignal.timeout(timeoutMs) }
    if (kind === 'sandbox') await client.call(getSandbox, { id: SandboxId.parse(id) }, options)
    else if (kind === 'domain') await client.call(getDomain, { domain: DomainName.parse(id) }, options)
  }
  return {
    isRemoved: (target) =>
      target.kind === 'tool-server' ? !hasToolServer(target.id) : removedTargets.has(toKey(target)),
    async refresh(targets) {
      const requests = targets.map(async (target) => {
        try {
          await read(target)
          removedTargets.delete(toKey(target))
        } catch (error) {
          // Other errors, such as an invalid id or an unavailable service, are left to the operation.
          if (error instanceof AppError && missingCodes.has(error.code)) addRemoved(toKey(target))
        }
      })
      await Promise.all(requests)
    },
    close() {
      unsubscribe()
      for (const end of subscriptions) end()
    },
  }
}

const missingCodes: ReadonlySet<string> = new Set(['sandbox/not-found', 'domain/not-found'])

function toKey({ kind, id }: Target): string {
  return `${kind} ${id}`
}
