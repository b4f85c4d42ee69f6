import { z } from 'zod'
import { SandboxId, TerminalId } from '../ids.ts'
import { Image } from './images.ts'
import { Sandbox } from './sandboxes.ts'
import { Terminal } from './terminals.ts'

/**
 * The WebSocket `GET /v1/events`: one JSON message for each change of what the caller's account owns.
 * The first message is always `ready`; a client reads its lists again after each `ready`, because changes
 * while it was away are not repeated.
 */
export const eventsPath = '/v1/events'

/** Event of a service's stream. */
export const ServiceEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('sandbox.changed'), sandbox: Sandbox }),
  z.object({ type: z.literal('sandbox.removed'), id: SandboxId }),
  /** Snapshots of the sandbox changed: reload them. */
  z.object({ type: z.literal('snapshots.changed'), sandbox_id: SandboxId }),
  z.object({ type: z.literal('image.changed'), image: Image }),
  z.object({ type: z.literal('image.removed'), name: z.string() }),
  z.object({ type: z.literal('terminal.changed'), terminal: Terminal }),
  /** The terminal printed output, or rang (`bell`). Sent immediately, then at most once a second. */
  z.object({
    type: z.literal('terminal.output'),
    sandbox_id: SandboxId,
    session_id: TerminalId,
    bell: z.boolean(),
  }),
  /** The program requests attention. `text` is untrusted: one line without control characters, possibly empty. At most once a second. */
  z.object({
    type: z.literal('terminal.called'),
    sandbox_id: SandboxId,
    session_id: TerminalId,
    text: z.string(),
  }),
  /** The account has a new activity, which GET /v1/activity lists. */
  z.object({ type: z.literal('activity.noted'), sequence: z.int() }),
  /** A sandbox, key or domain was removed: GET /v1/removed-things names it. */
  z.object({ type: z.literal('things.removed'), sequence: z.int() }),
  z.object({ type: z.literal('automatons.changed') }),
  /** The models, or which of them have a provider with a key: GET /v1/models tells. */
  z.object({ type: z.literal('models.changed') }),
  /** Balance, holds or history changed. Sent immediately, then at most once a second. */
  z.object({ type: z.literal('credits.changed') }),
  /** Domains or DNS records of the account: read them again. */
  z.object({ type: z.literal('domains.changed') }),
  /** A wallet requested an account, or a request was decided. Sent to the owner only. */
  z.object({ type: z.literal('account-requests.changed') }),
  z.object({ type: z.literal('terminal.removed'), sandbox_id: SandboxId, session_id: TerminalId }),
])
export type ServiceEvent = z.infer<typeof ServiceEvent>
