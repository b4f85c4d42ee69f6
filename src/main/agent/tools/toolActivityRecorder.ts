import { AppError } from '#shared/appError.ts'
import type { Links } from '#shared/contract/timelineLinks.ts'
import { isWaiting, type Tool, type ToolResult } from '#shared/contract/tools/tool.ts'
import type { NewActivityEntry, RecordActivity } from '../base/recordActivity.ts'
import { findTarget, type ToolArguments, type ToolCaller } from '../base/toolCaller.ts'

type By = Pick<ToolCaller, 'requester'>

/**
 * Records each call once, with tool, caller, outcome, duration, and sandbox or domain, but without arguments and
 * results. Decisions of the user are recorded with their request.
 *
 * Read-only calls are recorded individually up to a limit per minute, and beyond it as a single count, so that a
 * polling program does not fill the disk.
 */
export type ToolActivityRecorder = {
  done(call: FinishedCall, result: ToolResult): void
  recordFailure(call: FinishedCall, error: unknown): void
  /** Records a call that was refused before it ran. @param name name as received */
  recordRefusal(name: string, tool: Tool | undefined, by: By, error: unknown): void
  /** Records the remaining counts. */
  close(): void
}
export type FinishedCall = { tool: Tool; args: ToolArguments; caller: By; tookMs: number }

type Counted = { entry: NewActivityEntry; recorded: number; more: number; sinceMs: number }
type Options = {
  recordActivity: RecordActivity
  /** Records summaries of several calls outside of any task. */
  recordOutsideTasks: RecordActivity
  now: () => number
}

const minuteMs = 60_000
/** Maximum number of entries per tool, caller and outcome. */
const maxEntriesPerMinute = 30

export function createToolActivityRecorder({ recordActivity, recordOutsideTasks, now }: Options): ToolActivityRecorder {
  const counted = new Map<string, Counted>()
  let timer: NodeJS.Timeout | undefined

  const recordMore = (beforeMs: number): void => {
    for (const [key, { entry, more, sinceMs }] of counted) {
      if (sinceMs > beforeMs) continue
      counted.delete(key)
      if (more === 0) continue
      const summary = `${entry.summary.replace(/\.$/, '')}, ${more} more ${more === 1 ? 'time' : 'times'} in a minute.`
      recordOutsideTasks({ ...entry, summary, detail: { ...entry.detail, calls: more } })
    }
    clearTimeout(timer)
    timer = counted.size === 0 ? undefined : setTimeout(() => recordMore(now() - minuteMs), minuteMs)
    timer?.unref()
  }
  const recordPaced = (key: string, entry: NewActivityEntry): void => {
    const nowMs = now()
    let counter = counted.get(key)
    if (counter && nowMs - counter.sinceMs >= minuteMs) {
      recordMore(nowMs - minuteMs)
      counter = undefined
    }
    if (!counter) {
      const { links: _, subject: __, tookMs: ___, ...plain } = entry
      counter = { entry: plain, recorded: 0, more: 0, sinceMs: nowMs }
      counted.set(key, counter)
      timer ??= setTimeout(() => recordMore(now() - minuteMs), minuteMs).unref()
    }
    if (counter.recorded < maxEntriesPerMinute) {
      counter.recorded += 1
      recordActivity(entry)
    } else counter.more += 1
  }
  const recordEnd = (
    { tool, args, caller: { requester }, tookMs }: FinishedCall,
    error?: { code: string },
    state = 'done',
  ) => {
    const entry: NewActivityEntry = {
      kind: error ? 'tool.failed' : 'tool.called',
      actor: { kind: requester.kind, name: requester.name },
      subject: findTarget(args),
      summary: error
        ? `${requester.name} called ${tool.name}, which failed.`
        : `${requester.name} called ${tool.name}.`,
      detail: {
        ...{ tool: tool.name, requester: requester.id, price: tool.price, outcome: error ? 'failed' : state },
        ...(error && { code: error.code }),
        took_ms: Math.round(tookMs),
      },
      links: toLinks(args),
      tookMs,
    }
    if (tool.effect === 'read')
      recordPaced(`${requester.kind} ${requester.id} ${tool.name} ${error?.code ?? ''}`, entry)
    else recordActivity(entry)
  }

  return {
    done: (call, result) => recordEnd(call, undefined, isWaiting(result) ? 'waiting' : 'done'),
    recordFailure: (call, error) => recordEnd(call, { code: toCode(error) }),
    recordRefusal(name, tool, { requester }, error) {
      const code = toCode(error)
      const toolLabel = tool ? tool.name : 'a tool that does not exist'
      recordPaced(`${requester.kind} ${requester.id} ${tool?.name ?? ''} ${code}`, {
        kind: 'tool.refused',
        actor: { kind: requester.kind, name: requester.name },
        summary: `${requester.name} called ${toolLabel}, which was refused.`,
        detail: { tool: tool?.name ?? name.slice(0, 64), asker: requester.id, outcome: 'refused', code },
      })
    },
    close() {
      recordMore(Number.POSITIVE_INFINITY)
      clearTimeout(timer)
    },
  }
}

function toCode(error: unknown): string {
  return error instanceof AppError ? error.code : 'internal/unexpected'
}

function toLinks({ sandbox_id: sandbox, domain }: ToolArguments): Links {
  return {
    ...(typeof sandbox === 'string' && { sandbox: sandbox.slice(0, 255) }),
    ...(typeof domain === 'string' && { domain: domain.slice(0, 255) }),
  }
}
