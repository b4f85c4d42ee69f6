import { z } from 'zod'
import type { AskerKind } from './intents.ts'
import type { TaskId } from './timelineLinks.ts'

/** Requesters of the local agent other than the user: a coding agent, a chat, a program with an API key, Steward itself. */
export const requesterKinds = ['agent', 'chat', 'program', 'steward'] as const

/** Originator of a call made with the owner's key, as the agent reports it. */
export const Requester = z.object({
  kind: z.enum(requesterKinds),
  name: z.string().min(1).max(200),
})
export type Requester = z.infer<typeof Requester>

/**
 * Names the requester on whose behalf the local agent sends a request, so that the service records it with its actions.
 * Honored only with the account's own credential, since a program with an API key could name another requester.
 */
export const requesterHeader = 'x-steward-requester'

/** Percent-encodes the name, since header values are ASCII. */
const headerForm = /^([a-z]{1,16});([A-Za-z0-9%_.!~*'()-]{1,2400})$/

/** Lone surrogates cannot be encoded. */
export function formatRequester({ kind, name }: Requester): string {
  return `${kind};${encodeURIComponent(name.replace(/\p{Cs}/gu, '\ufffd'))}`
}

/** @returns undefined if the header is missing or malformed */
export function parseRequester(header: string | readonly string[] | undefined): Requester | undefined {
  const [, kind, encoded = ''] = typeof header === 'string' ? (headerForm.exec(header) ?? []) : []
  try {
    return Requester.safeParse({ kind, name: decodeURIComponent(encoded) }).data
  } catch {
    return undefined // malformed percent-encoding
  }
}

type Actor = { kind: AskerKind | 'service' | 'system'; name: string }

/** @returns undefined for the user. In a chat turn, the chat calls tools; otherwise coding agents do */
export function toRequester({ kind, name }: Actor, task: TaskId): Requester | undefined {
  const requester = getRequesterKind(kind, task)
  return requester && { kind: requester, name: name.slice(0, 200) || 'Unnamed' }
}

function getRequesterKind(kind: Actor['kind'], task: TaskId): Requester['kind'] | undefined {
  if (kind === 'client') return 'program'
  if (kind === 'agent') return 'steward'
  if (kind === 'tool') return isTurn(task) ? 'chat' : 'agent'
  return undefined
}

/** Whether the task is a chat turn. */
export function isTurn(task: TaskId): boolean {
  return task.startsWith('chat:')
}
