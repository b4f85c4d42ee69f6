import { hash } from 'node:crypto'
import { AppError } from '../../../shared/appError.ts'
import { describeIssue } from '../../../shared/contract/describeIssue.ts'
import type { ToolCallRecord } from '../../../shared/contract/toolCalls.ts'
import { isWithinSandbox } from '../../../shared/contract/tools/sandboxAuthority.ts'
import type { Tool, ToolApproval, ToolResult, ToolWaiting, ToolWork } from '../../../shared/contract/tools/tool.ts'
import { isWaiting } from '../../../shared/contract/tools/tool.ts'
import { type AgentPrincipals, requesterPrincipal } from '../agentPrincipals.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { PacedAsks } from '../approvals/pacedAsks.ts'
import type { MayNow } from '../mayNow.ts'
import type { PendingCalls } from './pendingCalls.ts'
import { callDigest, holderOf, type ToolArguments, type ToolCaller, targetOf } from './toolCaller.ts'
import type { ToolNotes } from './toolNotes.ts'
import { failureOutcome, resultOutcome, type ToolOutcome } from './toolOutcome.ts'
import { asksFirst, requireCallRights, type ToolRights } from './toolRights.ts'

/** How long a call may keep its client: clients give up after 60 s. */
export const toolWaits = { personMs: 20_000, programMs: 50_000, progressMs: 5_000 } as const

const describeTimeoutMs = 3_000

export type ToolRun = {
  caller: ToolCaller
  /** Fires when the client has gone or takes the call back: what has not been approved is withdrawn. */
  signal: AbortSignal
  /** Told of a call that takes a while; how long it has taken, in seconds. */
  progress?: ((seconds: number, message: string) => void) | undefined
  /** Told what a command prints while it runs, where its caller shows that. */
  output?: ((text: string) => void) | undefined
  /** Instead of `toolWaits`: 0 answers at once with what waits. */
  waitMs?: { person: number; program: number }
  /** The id of a call that waited: its outcome is what is asked for, and nothing is run again. */
  resume?: string | undefined
}

/**
 * Runs tools for whoever calls them: clients over MCP, and the models of the chat. It never throws and never hangs:
 *
 *     const outcome = await executor.runTool('sandbox_exec', { sandbox_id, command }, { caller, signal })
 *
 * `result`: `result` is the structured answer, `text` the same as text. `error`: a sentence and a hint, for the model as
 * for people. `waiting`: it goes on; `settled(waiting.id, …)` tells what becomes of it, and so does the tool
 * `approval_status`. A call that waits for the person shows in Approvals as an intent `tool.call`, with `caller.asker`
 * as who asks: the chat finds its own there by `asker.id`. The same call again while it waits is the same request.
 *
 * The operations are called in this process with the caller's present authority: its profile, policy, budget and dry run, the
 * policy and the grants of Approvals, the limits of payments, the stop switch.
 */
export type ToolExecutor = {
  runTool(name: string, given: unknown, run: ToolRun): Promise<ToolOutcome>
  /** What became of a call that waited. @throws AppError `tool/call-not-found` */
  settled(
    id: string,
    given: { caller: Pick<ToolCaller, 'asker'>; waitMs: number; signal?: AbortSignal },
  ): Promise<ToolCallRecord>
  /** Ends the calls under way that change something. */
  stopAll(): void
}

/** Does what a tool does: for a call that may go ahead, at once or after it was approved. @throws AppError */
export type PerformTool = (
  tool: Tool,
  args: ToolArguments,
  given: {
    caller: ToolCaller
    /** Reads the present rights of the caller. @throws AppError `tool/revoked`, `tool/denied`, `tool/profile` */
    rights: () => ToolRights
    signal: AbortSignal
    waitMs: number
    progress?: (message: string) => void
    output?: ToolRun['output']
  },
) => Promise<ToolResult | { waiting: ToolWaiting }>

type Options = {
  approvals: Pick<Approvals, 'cancel'>
  principals: Pick<AgentPrincipals, 'lease'>
  mayNow: MayNow
  /** Asks the service whether what a call names still exists. */
  refresh: (tool: Tool, args: ToolArguments) => Promise<void>
  asks: Pick<PacedAsks, 'ask'>
  pending: PendingCalls
  perform: PerformTool
  notes: Pick<ToolNotes, 'refused'>
  /** Resolves the ids in a call's arguments to names, with the caller's authority. @throws AppError */
  call(caller: ToolCaller, signal: AbortSignal): ToolWork['call']
  /** @throws AppError why these rights do not include it now */
  toolOf(name: string, rights: ToolRights): Tool | undefined
}

export function toolExecutor(options: Options): ToolExecutor {
  const { approvals, principals, mayNow, refresh, asks, pending, perform, notes, toolOf } = options
  const running = new Set<RunningCall>()

  /** Binds a call to its caller: it ends with the caller's lease, and on the stop switch. */
  const begin = (caller: ToolCaller): RunningCall => {
    const lease = principals.lease(requesterPrincipal(caller.asker), 'tool-call')
    const ending = new AbortController()
    const end = (error: unknown): void => ending.abort(error)
    const onEnd = (): void => end(lease.signal.reason)
    if (lease.signal.aborted) onEnd()
    else lease.signal.addEventListener('abort', onEnd, { once: true })
    const call: RunningCall = {
      signal: ending.signal,
      rights: () => requireCallRights(lease.may().tools, caller),
      end,
      release() {
        lease.signal.removeEventListener('abort', onEnd)
        lease.release()
        running.delete(call)
      },
    }
    return call
  }

  const ask = async (tool: Tool, args: ToolArguments, { caller, approval }: Asked): Promise<string> => {
    const digest = callDigest(caller, tool, args)
    const same = pending.waiting(digest)
    if (same) return same.id
    const holder = holderOf(caller)
    pending.checkRoom(holder)
    const { target } = approval
    const [sentence] = await Promise.all([described(tool, args, { caller, approval }), refresh(tool, args)])
    const refusal = mayNow({ call: { caller, tool, args } }) // the look-up took a while
    if (refusal) throw refusal.error
    const again = pending.waiting(digest)
    if (again) return again.id
    const given = JSON.stringify(args)
    const intent = { kind: 'tool.call', tool: tool.name, sentence, target, arguments: given } as const
    const { id } = await asks.ask({
      intent,
      // Rules are for the caller that started the program, not for every process of its sandbox.
      asker: caller.sandbox === undefined ? caller.asker : { ...caller.asker, limited: true },
      alongside: (record) =>
        pending.add({ tool: tool.name, sentence, holder, digest, given, caller: JSON.stringify(caller) }, record),
    })
    return pending.ofIntent(id)?.id ?? ''
  }

  /** Falls back to the plain sentence if the lookup fails: the operation reports the error. */
  const described = async (tool: Tool, args: ToolArguments, { caller, approval }: Asked): Promise<string> => {
    if (!tool.describe || caller.sandbox !== undefined) return approval.sentence
    try {
      return await tool.describe(args, options.call(caller, AbortSignal.timeout(describeTimeoutMs)))
    } catch (failure) {
      if (failure instanceof AppError || (failure instanceof Error && failure.name === 'TimeoutError')) {
        return approval.sentence
      }
      throw failure
    }
  }

  const waited = async (
    id: string,
    tool: Tool,
    { call, caller, waitMs, progress, ...run }: BoundRun,
  ): Promise<ToolOutcome> => {
    const signal = AbortSignal.any([run.signal, call.signal])
    const { personMs, programMs } = {
      personMs: waitMs?.person ?? toolWaits.personMs,
      programMs: waitMs?.program ?? toolWaits.programMs,
    }
    const holder = holderOf(caller)
    const ticking = ticks(progress, 'Waiting for approval in Steward')
    try {
      let record = await pending.settled(id, { holder, waitMs: personMs, signal })
      if (record.state === 'running') {
        record = await pending.settled(id, { holder, waitMs: Math.max(0, programMs - personMs), signal })
      }
      if (record.state === 'waiting' && signal.aborted && record.intent_id !== null) {
        approvals.cancel(record.intent_id, caller.asker)
      }
      return recordOutcome(tool, record)
    } finally {
      ticking.end()
      call.release()
    }
  }

  const now = async (tool: Tool, args: ToolArguments, { call, ...run }: BoundRun): Promise<ToolOutcome> => {
    const { caller, signal, progress, waitMs, output } = run
    const leaving = new AbortController()
    const leave = (): void => leaving.abort()
    const end = (): void => leaving.abort(call.signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    call.signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) leave()
    if (call.signal.aborted) end()
    if (tool.effect !== 'read') running.add(call)
    const ticking = ticks(progress, `${tool.name} runs`)
    const personMs = waitMs?.person ?? toolWaits.personMs
    const work = perform(tool, args, {
      caller,
      rights: call.rights,
      signal: leaving.signal,
      waitMs: personMs,
      progress: ticking.say,
      output,
    }).finally(() => {
      call.signal.removeEventListener('abort', end)
      call.release()
    })
    try {
      const limitMs = tool.mayWait ? (waitMs?.program ?? toolWaits.programMs) : undefined
      const result = await within(work, { limitMs, signal: call.signal })
      if (result !== late)
        return isWaiting(result) ? { kind: 'waiting', waiting: result.waiting } : resultOutcome(tool, result)
      signal.removeEventListener('abort', leave) // it is no longer bound to its client's connection
      const digest = callDigest(caller, tool, args)
      const sentence = `${tool.name} runs`
      const followed = { tool: tool.name, sentence, holder: holderOf(caller), digest, caller: '' }
      const id = pending.follow(
        followed,
        work.then((it) => ({ ...it })),
      )
      return {
        kind: 'waiting',
        waiting: { id, for: 'program', message: `${sentence}. Call approval_status with this id.`, expires_at: null },
      }
    } finally {
      ticking.end()
      signal.removeEventListener('abort', leave)
    }
  }

  /** Whether it may be done, and what it waits for before it is. @throws AppError what refuses it */
  const begun = async (tool: Tool, given: unknown, { call, ...run }: BoundRun): Promise<Begun> => {
    const args = parsedArguments(tool, given)
    if (run.resume?.startsWith('call_')) return { args, callId: run.resume }
    const { caller } = run
    const refusal = mayNow({ call: { caller, tool, args } })
    if (refusal) throw refusal.error
    const beyond = beyondSandbox(tool, args, caller)
    if (!beyond && !asksFirst(call.rights(), tool, args)) return { args, callId: undefined }
    const approval = beyond ??
      tool.approval?.(args) ??
      tool.change?.(args) ?? { sentence: `Run ${tool.name}.`, target: tool.name }
    return { args, callId: await ask(tool, args, { caller, approval }) }
  }

  return {
    async runTool(name, given, run) {
      const call = begin(run.caller)
      const bound = { ...run, call }
      let tool: Tool | undefined
      let may: Begun
      try {
        tool = toolOf(name, call.rights())
        if (!tool) throw new AppError('tool/unknown', `There is no tool ${name.slice(0, 64)}.`)
        may = await begun(tool, given, bound)
      } catch (failure) {
        call.release()
        notes.refused(name, tool, run.caller, failure)
        return failureOutcome(failure)
      }
      try {
        const { args, callId } = may
        return callId === undefined ? await now(tool, args, bound) : await waited(callId, tool, bound)
      } catch (failure) {
        return failureOutcome(call.signal.aborted ? call.signal.reason : failure)
      }
    },
    settled: (id, { caller, ...given }) => pending.settled(id, { ...given, holder: holderOf(caller) }),
    stopAll() {
      for (const call of running) call.end(new AppError('intent/stopped', 'Everything is stopped.'))
    },
  }
}

/** A call and its bond to the caller. */
type RunningCall = {
  /** Aborts with an AppError when the caller's access ends or everything is stopped. */
  signal: AbortSignal
  /** @throws AppError `tool/revoked`, `tool/denied`, `tool/profile` */
  rights: () => ToolRights
  end(error: unknown): void
  release(): void
}
type BoundRun = ToolRun & { call: RunningCall }

/**
 * Returns the approval for a call from a sandbox that exceeds its authority. An approval in advance covers the sandbox
 * or the domain that the call names, and the exact arguments if it names none.
 */
function beyondSandbox(tool: Tool, args: ToolArguments, { sandbox }: ToolCaller): ToolApproval | undefined {
  if (sandbox === undefined || isWithinSandbox(tool, args, sandbox)) return undefined
  const target = targetOf(args)
  const about = target === '' ? ` with ${describeArguments(args)}` : ` for ${target}`
  return {
    sentence: `Let a program in the sandbox ${sandbox.slice(0, 8)} call ${tool.name}${about}.`,
    target: `${sandbox} ${tool.name} ${target || describeArguments(args)}`.slice(0, 255),
  }
}

/** Returns the arguments as JSON, or their digest if that is long or has non-ASCII characters. */
function describeArguments(args: ToolArguments): string {
  const text = JSON.stringify(args)
  if (/^[\x20-\x7e]{0,140}$/.test(text)) return text
  return `arguments ${hash('sha256', text).slice(0, 32)}`
}

/** With the id of the call that waits, if it does. */
type Begun = { args: ToolArguments; callId: string | undefined }
type Asked = { caller: ToolCaller; approval: ToolApproval }

/** @throws AppError `request/invalid` naming the first argument that is wrong */
function parsedArguments({ input }: Tool, given: unknown): ToolArguments {
  const { data, error } = input.safeParse(given ?? {})
  if (data) return data
  const [issue] = error.issues
  throw new AppError('request/invalid', issue ? describeIssue(issue, given) : 'The arguments are not valid.')
}

function recordOutcome(tool: Tool, record: ToolCallRecord): ToolOutcome {
  const { id, state, sentence, result, error, hint, expires_at } = record
  if (record.tool !== tool.name) throw new AppError('tool/call-not-found', `${id} is no call of ${tool.name}.`)
  switch (state) {
    case 'done':
      return resultOutcome(tool, result ?? {})
    case 'waiting':
      return { kind: 'waiting', waiting: { id, for: 'person', message: sentence, expires_at } }
    case 'running':
      return { kind: 'waiting', waiting: { id, for: 'program', message: `${tool.name} runs.`, expires_at: null } }
    case 'denied':
      return failureOutcome(new AppError('tool/denied', error ?? 'It was refused.'))
    case 'unclear':
      return failureOutcome(new AppError('tool/unclear', error ?? 'Nobody knows what became of it.'))
    case 'failed':
      return { kind: 'error', code: 'tool/failed', sentence: error ?? 'It failed.', hint: hint ?? '' }
  }
}

const late = Symbol('late')

type Bounds = {
  limitMs: number | undefined
  /** Its reason is thrown at once, though the work may still tidy up. */
  signal: AbortSignal
}

function within<T>(work: Promise<T>, { limitMs, signal }: Bounds): Promise<T | typeof late> {
  return new Promise((resolve, reject) => {
    const timer = limitMs === undefined ? undefined : setTimeout(() => resolve(late), limitMs)
    const end = (): void => reject(signal.reason)
    signal.addEventListener('abort', end, { once: true })
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
    }
    work.then(resolve, reject).finally(done)
  })
}

function ticks(progress: ToolRun['progress'], message: string) {
  let words = message
  let seconds = 0
  const step = toolWaits.progressMs / 1000
  const tick = (): void => {
    seconds += step
    progress?.(seconds, words)
  }
  const timer = progress && setInterval(tick, toolWaits.progressMs)
  return {
    say(said: string) {
      words = said
    },
    end: () => clearInterval(timer),
  }
}
