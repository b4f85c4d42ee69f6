import { hash } from 'node:crypto'
import { z } from 'zod'
import { Requester } from '#shared/contract/intents.ts'
import { ToolProfile } from '#shared/contract/toolClients.ts'

/**
 * Identity of a caller of tools, and what narrows this request. Never its rights: those are read at each use, so that a
 * stored call has no more of them than its caller has by then.
 */
export const ToolCaller = z.object({
  /** As approvals, payments and Activity name it; `kind` is `tool`, or `client` for the holder of an API key. */
  requester: Requester,
  /** Profile narrower than the caller's, for this request alone. */
  narrowedTo: ToolProfile.optional(),
  /** Whether a program of `operations_run` calls. It may call every operation while its client may run programs. */
  isProgram: z.boolean().optional(),
  /** Sandbox that runs the caller. Calls that affect anything outside it need approval, whatever its policy. */
  sandbox: z.string().optional(),
})
export type ToolCaller = z.infer<typeof ToolCaller>

export type ToolArguments = Readonly<Record<string, unknown>>

/** Returns the key under which a requester's calls, spending and payments are stored. */
export function toRequesterKey({ requester }: Pick<ToolCaller, 'requester'>): string {
  return `${requester.kind} ${requester.id}`
}

/** The same for the same call of the same caller. */
export function digestCall(
  caller: Pick<ToolCaller, 'requester' | 'sandbox'>,
  tool: { name: string },
  args: ToolArguments,
): string {
  const sortedArguments = Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash(
    'sha256',
    JSON.stringify([toRequesterKey(caller), tool.name, sortedArguments, ...(caller.sandbox ? [caller.sandbox] : [])]),
  )
}

/** The sandbox or the domain a call is about. */
export function findTarget({ sandbox_id: sandbox, domain }: ToolArguments): string {
  return String(sandbox ?? domain ?? '').slice(0, 255)
}
