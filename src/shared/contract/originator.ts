import { z } from 'zod'
import type { RequesterKind } from './intents.ts'
import type { TaskId } from './timelineLinks.ts'

/** Originators of the local agent other than the user: a coding agent, a chat, a program with an API key, Steward itself. */
export const originatorKinds = ['agent', 'chat', 'program', 'steward'] as const

/** Originator of a call made with the owner's key, as the agent reports it. */
export const Originator = z.object({
  kind: z.enum(originatorKinds),
  name: z.string().min(1).max(200),
})
export type Originator = z.infer<typeof Originator>

/**
 * Names the originator on whose behalf the local agent sends a request, so that the service records it with its actions.
 * Honored only with the account's own credential, since a program with an API key could name another originator.
 */
export const originatorHeader = 'x-steward-requester'

/** Percent-encodes the name, since header values are ASCII. */
const headerForm = /^([a-z]{1,16});([A-Za-z0-9%_.!~*'()-]{1,2400})$/

/** Lone surrogates cannot be encoded. */
export function formatOriginator({ kind, name }: Originator): string {
  return `${kind};${encodeURIComponent(name.replace(/\p{Cs}/gu, '\ufffd'))}`
}

/** @returns undefined if the header is missing or malformed */
export function parseOriginator(header: string | readonly string[] | undefined): Originator | undefined {
  const [, kind, encoded = ''] = typeof header === 'string' ? (headerForm.exec(header) ?? []) : []
  try {
    return Originator.safeParse({ kind, name: decodeURIComponent(encoded) }).data
  } catch {
    return undefined // malformed percent-encoding
  }
}

type Actor = { kind: RequesterKind | 'service' | 'system'; name: string }

/** @returns undefined for the user. In a chat turn, the chat calls tools; otherwise coding agents do */
export function toOriginator({ kind, name }: Actor, task: TaskId): Originator | undefined {
  const originator = getOriginatorKind(kind, task)
  return originator && { kind: originator, name: name.slice(0, 200) || 'Unnamed' }
}

function getOriginatorKind(kind: Actor['kind'], task: TaskId): Originator['kind'] | undefined {
  if (kind === 'client') return 'program'
  if (kind === 'agent') return 'steward'
  if (kind === 'tool') return isTurn(task) ? 'chat' : 'agent'
  return undefined
}

/** Whether the task is a chat turn. */
export function isTurn(task: TaskId): boolean {
  return task.startsWith('chat:')
}
