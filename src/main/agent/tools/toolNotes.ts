import { AppError } from '#shared/appError.ts'
import type { Links } from '#shared/contract/timelineLinks.ts'
import { isWaiting, type Tool, type ToolResult } from '#shared/contract/tools/tool.ts'
import type { Note, NotedEntry } from '../base/note.ts'
import { type ToolArguments, type ToolCaller, targetOf } from './toolCaller.ts'

type By = Pick<ToolCaller, 'asker'>

/**
 * Tells the log of each call once: which tool, who called it, how it ended, how long it took. Neither arguments nor
 * answers, beyond the sandbox or domain it is about. What the person decided stands there with its request.
 *
 * What changes nothing is told call by call up to a number a minute; the rest of that minute is told as one number, so
 * that a program that polls does not fill the disk.
 */
export type ToolNotes = {
  done(call: NotedCall, result: ToolResult): void
  failed(call: NotedCall, failure: unknown): void
  /** Before anything was done. @param name as it was given */
  refused(name: string, tool: Tool | undefined, by: By, failure: unknown): void
  /** Tells what was only counted. */
  close(): void
}
export type NotedCall = { tool: Tool; args: ToolArguments; caller: By; tookMs: number }

type Counted = { entry: NotedEntry; told: number; more: number; sinceMs: number }
type Options = {
  note: Note
  /** What sums up several calls belongs to the task of none. */
  noteAlone: Note
  now: () => number
}

const minuteMs = 60_000
/** Of one tool, by one caller, with one outcome. */
const toldEachMinute = 30

export function toolNotes({ note, noteAlone, now }: Options): ToolNotes {
  const counted = new Map<string, Counted>()
  let timer: NodeJS.Timeout | undefined

  const tellMore = (beforeMs: number): void => {
    for (const [key, { entry, more, sinceMs }] of counted) {
      if (sinceMs > beforeMs) continue
      counted.delete(key)
      if (more === 0) continue
      const summary = `${entry.summary.replace(/\.$/, '')}, ${more} more ${more === 1 ? 'time' : 'times'} in a minute.`
      noteAlone({ ...entry, summary, detail: { ...entry.detail, calls: more } })
    }
    clearTimeout(timer)
    timer = counted.size === 0 ? undefined : setTimeout(() => tellMore(now() - minuteMs), minuteMs)
    timer?.unref()
  }
  const paced = (key: string, entry: NotedEntry): void => {
    const nowMs = now()
    let known = counted.get(key)
    if (known && nowMs - known.sinceMs >= minuteMs) {
      tellMore(nowMs - minuteMs)
      known = undefined
    }
    if (!known) {
      const { links: _, subject: __, tookMs: ___, ...plain } = entry
      known = { entry: plain, told: 0, more: 0, sinceMs: nowMs }
      counted.set(key, known)
      timer ??= setTimeout(() => tellMore(now() - minuteMs), minuteMs).unref()
    }
    if (known.told < toldEachMinute) {
      known.told += 1
      note(entry)
    } else known.more += 1
  }
  const ended = ({ tool, args, caller: { asker }, tookMs }: NotedCall, failure?: { code: string }, state = 'done') => {
    const entry: NotedEntry = {
      kind: failure ? 'tool.failed' : 'tool.called',
      actor: { kind: asker.kind, name: asker.name },
      subject: targetOf(args),
      summary: failure ? `${asker.name} called ${tool.name}, which failed.` : `${asker.name} called ${tool.name}.`,
      detail: {
        ...{ tool: tool.name, asker: asker.id, price: tool.price, outcome: failure ? 'failed' : state },
        ...(failure && { code: failure.code }),
        took_ms: Math.round(tookMs),
      },
      links: linksOf(args),
      tookMs,
    }
    if (tool.effect === 'read') paced(`${asker.kind} ${asker.id} ${tool.name} ${failure?.code ?? ''}`, entry)
    else note(entry)
  }

  return {
    done: (call, result) => ended(call, undefined, isWaiting(result) ? 'waiting' : 'done'),
    failed: (call, failure) => ended(call, { code: codeOf(failure) }),
    refused(name, tool, { asker }, failure) {
      const code = codeOf(failure)
      const told = tool ? tool.name : 'a tool that does not exist'
      paced(`${asker.kind} ${asker.id} ${tool?.name ?? ''} ${code}`, {
        kind: 'tool.refused',
        actor: { kind: asker.kind, name: asker.name },
        summary: `${asker.name} called ${told}, which was refused.`,
        detail: { tool: tool?.name ?? name.slice(0, 64), asker: asker.id, outcome: 'refused', code },
      })
    },
    close() {
      tellMore(Number.POSITIVE_INFINITY)
      clearTimeout(timer)
    },
  }
}

function codeOf(failure: unknown): string {
  return failure instanceof AppError ? failure.code : 'internal/unexpected'
}

/** The sandbox and the domain a call is about. */
function linksOf({ sandbox_id: sandbox, domain }: ToolArguments): Links {
  return {
    ...(typeof sandbox === 'string' && { sandbox: sandbox.slice(0, 255) }),
    ...(typeof domain === 'string' && { domain: domain.slice(0, 255) }),
  }
}
