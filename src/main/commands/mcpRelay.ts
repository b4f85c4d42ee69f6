import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { type HttpClient, readText } from '#platform/http/httpClient.ts'
import { createSseParser } from '#platform/http/sseEvents.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { profileHeader, type StdioEndpoint, type ToolProfile } from '#shared/contract/toolClients.ts'

export type McpRelayOptions = {
  input: Readable
  output: Writable
  http: Pick<HttpClient, 'open'>
  /**
   * Finds the endpoint of Steward. `again` repeats the lookup after an error.
   * @throws AppError if there is no endpoint
   */
  endpoint(again: boolean): Promise<StdioEndpoint>
  profile: ToolProfile | undefined
}

type Message = {
  id?: string | number | null
  method?: string
  params?: { name?: unknown; uri?: unknown; requestId?: unknown; _meta?: Record<string, unknown> }
}

const maxAnswer = 64 * 1024 * 1024
const revisionField = 'io.modelcontextprotocol/protocolVersion'
/** JSON-RPC: https://www.jsonrpc.org/specification#error_object */
const errors = { parse: -32_700, request: -32_600, server: -32_000 } as const

/**
 * Serves MCP over stdin and stdout. Forwards each message to `/mcp` of the running Steward and each response back,
 * regardless of the protocol version. Resolves when stdin has ended and all responses are written.
 */
export async function runMcpRelay({ input, output, http, endpoint, profile }: McpRelayOptions): Promise<void> {
  const running = new Map<string, AbortController>()
  const open = new Set<Promise<void>>()
  /** Protocol version negotiated by clients that send `initialize`. */
  let agreed: string | undefined

  const write = (message: unknown): void => void output.write(`${JSON.stringify(message)}\n`)
  const fail = (id: Message['id'], code: number, message: string): void =>
    write({ jsonrpc: '2.0', id: id ?? null, error: { code, message } })

  const createHeaders = ({ method, params }: Message, { key }: StdioEndpoint): Record<string, string> => {
    const revision = params?._meta?.[revisionField] ?? agreed
    const name = params?.name ?? params?.uri
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${key}`,
      ...(typeof revision === 'string' && { 'mcp-protocol-version': revision }),
      ...(method !== undefined && { 'mcp-method': readHeader(method) }),
      ...(typeof name === 'string' && { 'mcp-name': readHeader(name) }),
      ...(profile !== undefined && { [profileHeader]: profile }),
    }
  }
  const sendMessage = async (message: Message, signal: AbortSignal) => {
    const ask = async (again: boolean) => {
      const to = await endpoint(again)
      const body = JSON.stringify(message)
      return http.open(to.url, { method: 'POST', headers: createHeaders(message, to), body, signal })
    }
    try {
      const answer = await ask(false)
      if (answer.status !== 401) return answer
    } catch (error) {
      if (signal.aborted) throw error
    }
    return ask(true) // Steward has restarted since, or was not running
  }
  const printError = (message: Message, text: string): void => {
    const answer: unknown = parseJson(text)
    if (message.method === 'initialize') agreed = readRevision(answer) ?? agreed
    write(answer)
  }
  const relay = async (message: Message): Promise<void> => {
    const leaving = new AbortController()
    const { id } = message
    const isRequest = id !== undefined && id !== null && message.method !== undefined
    if (isRequest) running.set(JSON.stringify(id), leaving)
    try {
      const { status, headers, body } = await sendMessage(message, leaving.signal)
      if (String(headers['content-type']).startsWith('text/event-stream')) {
        const parser = createSseParser()
        for await (const piece of body)
          for (const { data } of parser.feed(piece)) if (data !== '') printError(message, data)
        for (const { data } of parser.end()) if (data !== '') printError(message, data)
        return
      }
      const text = await readText(body, maxAnswer)
      if (!isRequest) return
      if (isAnswer(text)) printError(message, text)
      else fail(id, errors.server, readErrorMessage(text) ?? `Steward responded with status ${status}.`)
    } catch (error) {
      if (!leaving.signal.aborted && isRequest) {
        fail(id, errors.server, error instanceof Error ? error.message : "Steward isn't responding.")
      }
    } finally {
      if (isRequest) running.delete(JSON.stringify(id))
    }
  }

  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue
    const message = parseJsonOrUndefined(line)
    if (message === undefined) fail(null, errors.parse, 'The line is not valid JSON.')
    else if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      fail(null, errors.request, 'A message must be one JSON object.')
    } else if ((message as Message).method === 'notifications/cancelled') {
      running.get(JSON.stringify((message as Message).params?.requestId))?.abort()
    } else {
      const work: Promise<void> = relay(message as Message).finally(() => open.delete(work))
      open.add(work)
      // Messages after `initialize` depend on its result.
      if ((message as Message).method === 'initialize') await work
    }
  }
  for (const leaving of running.values()) leaving.abort()
  await Promise.all(open)
}

/**
 * Encodes a header value: base64 unless it is visible ASCII.
 * @see https://modelcontextprotocol.io/specification/2026-07-28
 */
function readHeader(text: string): string {
  const plain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
  return plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

function isAnswer(text: string): boolean {
  const answer = parseJsonOrUndefined(text)
  return typeof answer === 'object' && answer !== null && 'jsonrpc' in answer
}

function readRevision(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('result' in answer)) return undefined
  const { result } = answer
  if (typeof result !== 'object' || result === null || !('protocolVersion' in result)) return undefined
  return typeof result.protocolVersion === 'string' ? result.protocolVersion : undefined
}

/** Reads the message of an error response in the format of the local API. */
function readErrorMessage(text: string): string | undefined {
  const answer = parseJsonOrUndefined(text)
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return undefined
  const { error, detail, hint } = answer as Record<string, unknown>
  return [error, detail, hint].filter((it) => typeof it === 'string').join(' ')
}
