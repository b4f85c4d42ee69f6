import type { HttpClient } from '#platform/http/httpClient.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { toOneLine } from '#shared/untrustedText.ts'
import { RegistrarError } from './registrar.ts'

export type RegistrarRequest = {
  url: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  headers?: Readonly<Record<string, string>>
  body?: string
  /** Whether the call may have taken effect even without a response. */
  changes: boolean
  signal?: AbortSignal | undefined
}

/** Response of a registrar. `json` is undefined if the body is not valid JSON. */
export type RegistrarResponse = { status: number; json: unknown }

const readWithinMs = 20_000
/** Registrars query the registry before they respond. */
const changeWithinMs = 90_000

/** Calls a registrar's API. The URL may contain a key, so errors never contain the URL. */
export async function requestRegistrar(
  { http, title }: { http: HttpClient; title: string },
  { url, method, headers = {}, body, changes, signal }: RegistrarRequest,
): Promise<RegistrarResponse> {
  const deadline = AbortSignal.timeout(changes ? changeWithinMs : readWithinMs)
  try {
    const { status, text } = await http.ask(url, {
      method,
      headers: { accept: 'application/json', ...headers },
      body,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    })
    return { status, json: parseJsonOrUndefined(text) }
  } catch (error) {
    throw createNoResponseError(title, changes && !isUnsent(error), readCode(error))
  }
}

/** Omits the cause, which may contain the URL. */
function createNoResponseError(title: string, maybeDone: boolean, code: string): RegistrarError {
  const cause = new Error(`The call failed: ${code}`)
  return new RegistrarError(maybeDone ? 'unclear' : 'unreachable', `${title} did not respond.`, { cause })
}

/** Reduces a registrar's text to one line and removes our secrets, which it may repeat. */
export function sanitizeRegistrarText(text: unknown, secrets: readonly string[]): string {
  const line = typeof text === 'string' ? toOneLine(text) : ''
  return secrets.reduce((said, secret) => said.replaceAll(secret, '…'), line).slice(0, 200)
}

/** No connection was established, so the request was not sent. */
function isUnsent(error: unknown): boolean {
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(readCode(error))
}

function readCode(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code)
  return error instanceof Error ? error.name : 'unknown'
}
