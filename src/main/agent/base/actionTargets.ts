import { AppError } from '#shared/appError.ts'
import { getDomain } from '#shared/contract/domains.ts'
import { DomainName } from '#shared/contract/sandboxDomains.ts'
import { getSandbox } from '#shared/contract/sandboxes.ts'
import type { Tool } from '#shared/contract/tools/tool.ts'
import { SandboxId } from '#shared/ids.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { RemovedThings } from '../references/removedThings.ts'
import type { LocalEvents } from './localEvents.ts'

/** Sandbox, domain or third-party tool server that an action names. */
export type Target = { kind: 'sandbox' | 'domain' | 'tool-server'; id: string }

/** Knows which sandboxes and domains no longer exist, from the events and answers of the service. */
export type ActionTargets = {
  isGone(target: Target): boolean
  /** Asks the service. What it cannot tell within 3 s stays as it was. */
  refresh(targets: readonly Target[]): Promise<void>
  close(): void
}

type Options = {
  client: Pick<ServiceClient, 'call'>
  events: Pick<LocalEvents, 'subscribe'>
  removed: Pick<RemovedThings, 'subscribe'>
  /** Called when something is known to be gone. */
  onGone: () => void
  hasToolServer: (name: string) => boolean
}

const timeoutMs = 3_000
/** Sandbox ids are never used again, so marks may be forgotten: the service refuses what names a deleted sandbox. */
const maxMarks = 10_000

/** Returns what a call names that may be gone later. Calls that are not destructive may name domains of others. */
export function targetsOf({ effect }: Pick<Tool, 'effect'>, args: Readonly<Record<string, unknown>>): Target[] {
  const { sandbox_id: sandbox, domain } = args
  const targets: Target[] = []
  if (typeof sandbox === 'string') targets.push({ kind: 'sandbox', id: sandbox })
  if (typeof domain === 'string' && effect === 'destroy') targets.push({ kind: 'domain', id: domain.toLowerCase() })
  return targets
}

export function createActionTargets({ client, events, removed, onGone, hasToolServer }: Options): ActionTargets {
  const gone = new Set<string>()
  const mark = (key: string): void => {
    if (gone.size >= maxMarks) gone.clear()
    gone.add(key)
  }
  const leaveRemoved = (['sandbox', 'domain'] as const).map((kind) =>
    removed.subscribe({
      kind,
      onRemoved({ id }) {
        mark(keyOf({ kind, id }))
        onGone()
      },
    }),
  )
  const leave = events.subscribe((event) => {
    if (event.type === 'sandbox.removed') {
      mark(keyOf({ kind: 'sandbox', id: event.id }))
      onGone()
    }
    // A restored database may have again what was deleted.
    if (event.type === 'ready') gone.clear()
    if (event.type === 'sandbox.changed') gone.delete(keyOf({ kind: 'sandbox', id: event.sandbox.id }))
    if (event.type === 'domains.changed') {
      for (const key of gone) if (key.startsWith('domain ')) gone.delete(key)
    }
  })
  /** @throws AppError such as `sandbox/not-found` */
  const read = async ({ kind, id }: Target): Promise<void> => {
    const options = { signal: AbortSignal.timeout(timeoutMs) }
    if (kind === 'sandbox') await client.call(getSandbox, { id: SandboxId.parse(id) }, options)
    else if (kind === 'domain') await client.call(getDomain, { domain: DomainName.parse(id) }, options)
  }
  return {
    isGone: (target) => (target.kind === 'tool-server' ? !hasToolServer(target.id) : gone.has(keyOf(target))),
    async refresh(targets) {
      const asked = targets.map(async (target) => {
        try {
          await read(target)
          gone.delete(keyOf(target))
        } catch (failure) {
          // Ids that are none, and a service that is away: the operation itself tells.
          if (failure instanceof AppError && notFound.has(failure.code)) mark(keyOf(target))
        }
      })
      await Promise.all(asked)
    },
    close() {
      leave()
      for (const end of leaveRemoved) end()
    },
  }
}

const notFound: ReadonlySet<string> = new Set(['sandbox/not-found', 'domain/not-found'])

function keyOf({ kind, id }: Target): string {
  return `${kind} ${id}`
}
