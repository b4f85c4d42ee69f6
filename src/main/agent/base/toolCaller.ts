import { hash } from 'node:crypto'
import { z } from 'zod'
import { Requester } from '#shared/contract/intents.ts'
import { ToolProfile } from '#shared/contract/toolClients.ts'

/**
 * Identity of a tool caller, and restrictions of this request. Rights are not included. They are read on each use, so
 * that a stored call never exceeds the current rights of its caller.
 */
export const ToolCaller = z.object({
  /** Requester in approvals, payments and the activity log. `kind` is `tool`, or `client` for an API key. */
  requester: Requester,
  /** Profile narrower than the caller's, for this request only. */
  narrowedTo: ToolProfile.optional(),
  /**
   * Whether the caller is a program of `operations_run`, which may call every operation while its client may run
   * programs.
   */
  isProgram: z.boolean().optional(),
  /** Sandbox of the caller. Calls with effects outside it need approval, regardless of the policy. */
  sandbox: z.string().optional(),
})
export type ToolCaller = z.infer<typeof ToolCaller>

export type ToolArguments = Readonly<Record<string, unknown>>

/** Returns the key under which a requester's calls, spending and payments are stored. */
export function toRequesterKey({ requester }: Pick<ToolCaller, 'requester'>): string {
  return `${requester.kind} ${requester.id}`
}

/** Returns the same digest for the same call of the same caller. */
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

/** Returns the sandbox or the domain of a call. */
export function findTarget({ sandbox_id: sandbox, domain }: ToolArguments): string {
  return String(sandbox ?? domain ?? '').slice(0, 255)
}
