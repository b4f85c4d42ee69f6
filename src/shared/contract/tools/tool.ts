import { z } from 'zod'
import { IsoTime } from '../../time.ts'
import type { PaymentId } from '../paymentRecords.ts'
import type { Input, Output, Route } from '../route.ts'

/**
 * A tool is operations of the contract under a name that models know: it names its routes, how its arguments become
 * their input, and what of their answer it tells. It never does the work itself.
 */

/**
 * `read`: changes nothing. `change`: creates or changes. `destroy`: loses data for good, or takes a name off the
 * internet; needs approval. `pay`: moves money or signs irrevocably; its operation asks for approval itself.
 */
export type ToolEffect = 'read' | 'change' | 'destroy' | 'pay'
/** Group of a tool in lists. */
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
export type ToolWork = {
  /** Calls an operation on behalf of the tool's caller; only operations that the tool declares. @throws AppError */
  call<R extends Route>(route: R, input: Input<R>): Promise<Output<R>>
  /** Like `call`, but completes even if the caller disconnects: for cleanup. */
  callToEnd: ToolWork['call']
  /** Timeout of operations that wait for the user, in milliseconds. */
  waitMs: number
  /** The payment of an earlier call with the same arguments, whose outcome this call reports instead of paying again. */
  openPayment: PaymentId | undefined
  progress(message: string): void
  /** Receives live command output for a viewer. `watch` is an unguessable id. Undefined without a viewer. */
  live: { watch: string; tell(output: string): void } | undefined
  /**
   * Runs a program in a sandbox that can call operations as this caller.
   * @param sandboxId sandbox that other programs share, so calls have only its authority; absent: a new one, deleted afterwards
   * @throws AppError
   */
  runProgram(code: string, sandboxId: string | undefined): Promise<ToolResult>
  /** Calls a tool of a server of others, by the name that the model knows. @throws AppError */
  callServed(tool: string, args: ToolResult): Promise<ToolResult>
}

/** Approval text of a destructive call. */
export type ToolApproval = {
  /** `Delete the sandbox 3f2a… with all its files.` */
  sentence: string
  /** Subject: a sandbox, a domain. Equal for calls that one approval may cover. */
  target: string
}

/** Credits that a tool charges to the caller's budget. */
export type ToolCost<A extends z.ZodObject = z.ZodObject> = {
  /**
   * Estimates the maximum cost of a call. Called only if a limit applies.
   * @returns arguments for the call, possibly adjusted to cost less. Undefined if the limit is too low
   */
  estimateMax(
    args: z.output<A>,
    options: { work: ToolWork; remainingMicroUsd: number },
  ): Promise<{ args: z.output<A>; microUsd: number } | undefined>
  /** Actual cost. Undefined: not known yet, and the reservation remains. */
  of(result: ToolResult): number | undefined
}

/** Tool with its input schema and implementation. */
export type Tool<A extends z.ZodObject = z.ZodObject> = {
  name: string
  /** Models read it in every conversation: as short as can be. */
  description: string
  group: ToolGroup
  effect: ToolEffect
  /** A `change` that may replace or end something, though no more than its caller made or could make again. */
  overwrites: boolean
  /** Twice is as once. */
  idempotent: boolean
  /** Whether it reaches beyond Steward: registrars, models, sites, the network of a sandbox. */
  openWorld: boolean
  price: ToolPrice
  cost: ToolCost<A> | undefined
  routes: readonly Route[]
  input: A
  output: z.ZodObject
  /** Whether it may outlast the timeout of clients, or wait for the user. */
  mayWait: boolean
  approval: ((args: z.output<A>) => ToolApproval | undefined) | undefined
  /** Sentence for the approval with ids resolved to names. Called only if a call needs approval. */
  describe: ((args: z.output<A>, call: ToolWork['call']) => Promise<string>) | undefined
  /** Other changes made by a call of a paying tool, to which the caller's policy for changes applies. */
  change: ((args: z.output<A>) => ToolApproval | undefined) | undefined
  run(args: z.output<A>, work: ToolWork): Promise<ToolResult | { waiting: ToolWaiting }>
  /** Formats the text block, unless it repeats the result as JSON. */
  text: ((result: ToolResult) => string) | undefined
}

type Definition<A extends z.ZodRawShape> = Pick<Tool, 'name' | 'description' | 'group' | 'effect' | 'routes'> &
  Partial<Pick<Tool, 'overwrites' | 'idempotent' | 'openWorld' | 'price' | 'mayWait'>> & {
    input: A
    output: z.ZodRawShape
    cost?: ToolCost<z.ZodObject<NoInfer<A>>>
    approval?: (args: z.output<z.ZodObject<A>>) => ToolApproval | undefined
    change?: (args: z.output<z.ZodObject<A>>) => ToolApproval | undefined
    describe?: (args: z.output<z.ZodObject<A>>, call: ToolWork['call']) => Promise<string>
    run: Tool<z.ZodObject<A>>['run']
    text?: (result: ToolResult) => string
  }

/** Defines a tool. */
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
    input: z.strictObject(definition.input) as unknown as z.ZodObject<A>, // the same shape, only strict
    output: z.looseObject(definition.output),
  }
  return tool as unknown as Tool // its arguments are parsed by its own schema before they come to it
}

/** Whether the result is pending. */
export function isWaiting(result: ToolResult | { waiting: ToolWaiting }): result is { waiting: ToolWaiting } {
  return 'waiting' in result
}
