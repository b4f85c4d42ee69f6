import { z } from 'zod'
import { SandboxId, TerminalId } from '../ids.ts'
import { Image } from './images.ts'
import { Sandbox } from './sandboxes.ts'
import { Terminal } from './terminals.ts'

/**
 * WebSocket `GET /v1/events`, with one JSON message for each change of the account's resources. The first message is
 * always `ready`. Clients must reload their lists after each `ready`, because changes during a disconnect are not
 * repeated.
 */
export const eventsPath = '/v1/events'

/** Event that the service sends to clients of an account. `ready` comes first on each connection. */
export const ServiceEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('sandbox.changed'), sandbox: Sandbox }),
  z.object({ type: z.literal('sandbox.removed'), id: SandboxId }),
  /** The snapshots of the sandbox changed. Clients should reload them. */
  z.object({ type: z.literal('snapshots.changed'), sandbox_id: SandboxId }),
  z.object({ type: z.literal('image.changed'), image: Image }),
  z.object({ type: z.literal('image.removed'), name: z.string() }),
  z.object({ type: z.literal('terminal.changed'), terminal: Terminal }),
  /** The terminal printed output, or rang the bell (`bell`). Sent immediately, then at most once a second. */
  z.object({
    type: z.literal('terminal.output'),
    sandbox_id: SandboxId,
    session_id: TerminalId,
    bell: z.boolean(),
  }),
  /**
   * The program requests attention. `text` is untrusted: one line without control characters, possibly empty. Sent at
   * most once a second.
   */
  z.object({
    type: z.literal('terminal.called'),
    sandbox_id: SandboxId,
    session_id: TerminalId,
    text: z.string(),
  }),
  /** The account has a new activity. See GET /v1/activity. */
  z.object({ type: z.literal('activity.noted'), sequence: z.int() }),
  /** A sandbox, key or domain was removed. See GET /v1/removed-things. */
  z.object({ type: z.literal('things.removed'), sequence: z.int() }),
  z.object({ type: z.literal('automatons.changed') }),
  /** The models changed, or the providers that have a key. See GET /v1/models. */
  z.object({ type: z.literal('models.changed') }),
  /** Balance, holds or history changed. Sent immediately, then at most once a second. */
  z.object({ type: z.literal('credits.changed') }),
  /** Domains or DNS records of the account changed. Clients should reload them. */
  z.object({ type: z.literal('domains.changed') }),
  /** A wallet requested an account, or a request was decided. Sent only to the owner. */
  z.object({ type: z.literal('account-requests.changed') }),
  z.object({ type: z.literal('terminal.removed'), sandbox_id: SandboxId, session_id: TerminalId }),
])
export type ServiceEvent = z.infer<typeof ServiceEvent>
