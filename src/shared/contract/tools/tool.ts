import { z } from 'zod'
import { IsoTime } from '../../time.ts'
import type { PaymentId } from '../paymentRecords.ts'
import type { Input, Output, Route } from '../route.ts'

/**
 * Operations of the contract as a tool for models. A tool declares its routes, maps its arguments to their input, and
 * selects the result from their responses. It contains no business logic.
 */

/**
 * `read`: no changes. `change`: creates or changes. `destroy`: permanently loses data, or takes a name off the
 * internet; requires approval. `pay`: moves money or signs irrevocably; its operation requests approval.
 */
export type ToolEffect = 'read' | 'change' | 'destroy' | 'pay'
/** Group of a tool, by which profiles select tools. `served`: tools of third-party servers. */
export type ToolGroup = 'sandboxes' | 'models' | 'domains' | 'money' | 'identity' | 'approvals' | 'code' | 'served'
/** Cost of a call: none, credits of the account, or USDC of the wallet. */
export type ToolPrice = 'free' | 'credits' | 'usdc'

/** Result of a pending call; `approval_status` returns the outcome. */
export const ToolWaiting = z.object({
  id: z.string(),
  for: z.enum(['person', 'program']),
  message: z.string(),
  expires_at: IsoTime.nullable(),
})
export type ToolWaiting = z.infer<typeof ToolWaiting>

/** Structured content of a tool's result. */
export type ToolResult = Readonly<Record<string, unknown>>

/** Context of a running tool. */
export type ToolContext = {
  /** Calls an operation that the tool declares, on behalf of its caller. @throws AppError */
  call<R extends Route>(route: R, input: Input<R>): Promise<Output<R>>
  /** Like `call`, but completes even if the caller disconnects. For cleanup. */
  callToEnd: ToolContext['call']
  /** Timeout of operations that wait for the user, in milliseconds. */
  waitMs: number
  /** Payment of an earlier identical call. This call reports its outcome instead of paying again. */
  openPayment: PaymentId | undefined
  progress(message: string): void
  /** Receives live command output for a viewer. `watch` is an unguessable id. Undefined if there is no viewer. */
  live: { watch: string; onOutput(output: string): void } | undefined
  /**
   * Runs a program in a sandbox. The program can call operations as this caller.
   * @param sandboxId existing sandbox, which other programs share, so calls have only its authority; default: a new
   * one, deleted afterwards
   * @throws AppError
   */
  runProgram(code: string, sandboxId: string | undefined): Promise<ToolResult>
  /** Calls a tool of an external server by its alias for models. @throws AppError */
  callExternal(tool: string, args: ToolResult): Promise<ToolResult>
}

/** Approval text of a destructive call. */
export type ToolApproval = {
  /** Sentence such as `Delete the sandbox 3f2a… with all its files.` */
  sentence: string
  /** Subject, such as a sandbox or a domain. Equal for calls that one approval may cover. */
  target: string
}

/** Credits that a call charges to the caller's budget. */
export type ToolCost<A extends z.ZodObject = z.ZodObject> = {
  /**
   * Estimates the maximum cost of a call. Called only if a limit applies.
   * @returns arguments for the call, possibly adjusted to cost less, or undefined if the limit is too low
   */
  estimateMax(
    args: z.output<A>,
    options: { work: ToolContext; remainingMicroUsd: number },
  ): Promise<{ args: z.output<A>; microUsd: number } | undefined>
  /** Returns the actual cost, or undefined if it is not known yet. The reservation then remains. */
  of(result: ToolResult): number | undefined
}

/** Tool offered to models and MCP clients, with its effect, price and routes. */
export type Tool<A extends z.ZodObject = z.ZodObject> = {
  name: string
  /** Included in the context of every conversation, so it must be short. */
  description: string
  group: ToolGroup
  effect: ToolEffect
  /** Whether a `change` may replace or end something, but only what its caller created or could recreate. */
  overwrites: boolean
  /** Whether repeating the call has no further effect. */
  idempotent: boolean
  /** Whether it accesses systems outside Steward: registrars, models, websites, the network of a sandbox. */
  openWorld: boolean
  price: ToolPrice
  cost: ToolCost<A> | undefined
  routes: readonly Route[]
  input: A
  output: z.ZodObject
  /** Whether a call may exceed the timeout of clients, or wait for the user. */
  mayWait: boolean
  approval: ((args: z.output<A>) => ToolApproval | undefined) | undefined
  /** Creates the approval sentence with ids resolved to names. Called only if a call requires approval. */
  describe: ((args: z.output<A>, call: ToolContext['call']) => Promise<string>) | undefined
  /** Additional changes made by a paying tool, to which the caller's policy for changes applies. */
  change: ((args: z.output<A>) => ToolApproval | undefined) | undefined
  run(args: z.output<A>, work: ToolContext): Promise<ToolResult | { waiting: ToolWaiting }>
  /** Formats the text block. Default: the result as JSON */
  text: ((result: ToolResult) => string) | undefined
}

type Definition<A extends z.ZodRawShape> = Pick<Tool, 'name' | 'description' | 'group' | 'effect' | 'routes'> &
  Partial<Pick<Tool, 'overwrites' | 'idempotent' | 'openWorld' | 'price' | 'mayWait'>> & {
    input: A
    output: z.ZodRawShape
    cost?: ToolCost<z.ZodObject<NoInfer<A>>>
    approval?: (args: z.output<z.ZodObject<A>>) => ToolApproval | undefined
    change?: (args: z.output<z.ZodObject<A>>) => ToolApproval | undefined
    describe?: (args: z.output<z.ZodObject<A>>, call: ToolContext['call']) => Promise<string>
    run: Tool<z.ZodObject<A>>['run']
    text?: (result: ToolResult) => string
  }

/** Defines a tool and applies the defaults of its optional properties. */
export function defineTool<A extends z.ZodRawShape>(definition: Definition<A>): Tool {
  const { effect, approval, change, describe, cost, text } = definition
  const tool: Tool<z.ZodObject<A>> = {
    overwrites: false,
    idempotent: effect === 'read',
    openWorld: false,
    price: 'free',
    mayWait: effect === 'destroy' || effect === 'pay',
    ...definition,
    approval,
    change,
    describe,
    cost,
    text,
    input: z.strictObject(definition.input) as unknown as z.ZodObject<A>, // same shape, but strict
    output: z.looseObject(definition.output),
  }
  return tool as unknown as Tool // arguments are parsed by the tool's schema first
}

/** Whether the result of a call waits for approval or for a long-running program. */
export function isWaiting(result: ToolResult | { waiting: ToolWaiting }): result is { waiting: ToolWaiting } {
  return 'waiting' in result
}
