import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { parseJson } from '#platform/boundedJson.ts'
import { sseParser } from '#platform/http/sseEvents.ts'
import { type HttpClient, textOf } from '#platform/httpClient.ts'
import { parsedJson } from '#platform/parsedJson.ts'
import { profileHeader, type StdioDoor, type ToolProfile } from '#shared/contract/toolClients.ts'

/** What `mcpRelay` works with. */
export type McpRelayOptions = {
  input: Readable
  output: Writable
  http: Pick<HttpClient, 'open'>
  /** Where Steward answers; asked again when it no longer does. @throws AppError why there is none */
  door(again: boolean): Promise<StdioDoor>
  profile: ToolProfile | undefined
}

type Message = {
  id?: string | number | null
  method?: string
  params?: { name?: unknown; uri?: unknown; requestId?: unknown; _meta?: Record<string, unknown> }
}

const longestAnswer = 64 * 1024 * 1024
const revisionField = 'io.modelcontextprotocol/protocolVersion'
/** JSON-RPC: https://www.jsonrpc.org/specification#error_object */
const errors = { parse: -32_700, request: -32_600, server: -32_000 } as const

/**
 * MCP over stdin and stdout, each message handed on to `/mcp` of the Steward that runs and each answer back, whatever
 * revision they speak. Resolves when stdin has ended and all is answered.
 */
export async function mcpRelay({ input, output, http, door, profile }: McpRelayOptions): Promise<void> {
  const running = new Map<string, AbortController>()
  const open = new Set<Promise<void>>()
  /** Of clients that shake hands: what was agreed. */
  let agreed: string | undefined

  const write = (message: unknown): void => void output.write(`${JSON.stringify(message)}\n`)
  const fail = (id: Message['id'], code: number, message: string): void =>
    write({ jsonrpc: '2.0', id: id ?? null, error: { code, message } })

  const headersOf = ({ method, params }: Message, { key }: StdioDoor): Record<string, string> => {
    const revision = params?._meta?.[revisionField] ?? agreed
    const name = params?.name ?? params?.uri
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${key}`,
      ...(typeof revision === 'string' && { 'mcp-protocol-version': revision }),
      ...(method !== undefined && { 'mcp-method': headerText(method) }),
      ...(typeof name === 'string' && { 'mcp-name': headerText(name) }),
      ...(profile !== undefined && { [profileHeader]: profile }),
    }
  }
  const sent = async (message: Message, signal: AbortSignal) => {
    const ask = async (again: boolean) => {
      const to = await door(again)
      const body = JSON.stringify(message)
      return http.open(to.url, { method: 'POST', headers: headersOf(message, to), body, signal })
    }
    try {
      const answer = await ask(false)
      if (answer.status !== 401) return answer
    } catch (failure) {
      if (signal.aborted) throw failure
    }
    return ask(true) // it was started again since, or never was there
  }
  const told = (message: Message, text: string): void => {
    const answer: unknown = parseJson(text)
    if (message.method === 'initialize') agreed = agreedRevision(answer) ?? agreed
    write(answer)
  }
  const relay = async (message: Message): Promise<void> => {
    const leaving = new AbortController()
    const { id } = message
    const isRequest = id !== undefined && id !== null && message.method !== undefined
    if (isRequest) running.set(JSON.stringify(id), leaving)
    try {
      const { status, headers, body } = await sent(message, leaving.signal)
      if (String(headers['content-type']).startsWith('text/event-stream')) {
        const parser = sseParser()
        for await (const piece of body) for (const { data } of parser.feed(piece)) if (data !== '') told(message, data)
        for (const { data } of parser.end()) if (data !== '') told(message, data)
        return
      }
      const text = await textOf(body, longestAnswer)
      if (!isRequest) return
      if (isAnswer(text)) told(message, text)
      else fail(id, errors.server, refusalOf(text) ?? `Steward answered ${status}.`)
    } catch (failure) {
      if (!leaving.signal.aborted && isRequest) {
        fail(id, errors.server, failure instanceof Error ? failure.message : 'Steward does not answer.')
      }
    } finally {
      if (isRequest) running.delete(JSON.stringify(id))
    }
  }

  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue
    const message = parsedJson(line)
    if (message === undefined) fail(null, errors.parse, 'This line is not JSON.')
    else if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      fail(null, errors.request, 'A message is one JSON object.')
    } else if ((message as Message).method === 'notifications/cancelled') {
      running.get(JSON.stringify((message as Message).params?.requestId))?.abort()
    } else {
      const work: Promise<void> = relay(message as Message).finally(() => open.delete(work))
      open.add(work)
      // What was agreed counts for what comes behind it.
      if ((message as Message).method === 'initialize') await work
    }
  }
  for (const leaving of running.values()) leaving.abort()
  await Promise.all(open)
}

/** @see https://modelcontextprotocol.io/specification/2026-07-28 headers: what is no visible ASCII goes as base64 */
function headerText(text: string): string {
  const plain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
  return plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

function isAnswer(text: string): boolean {
  const answer = parsedJson(text)
  return typeof answer === 'object' && answer !== null && 'jsonrpc' in answer
}

function agreedRevision(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('result' in answer)) return undefined
  const { result } = answer
  if (typeof result !== 'object' || result === null || !('protocolVersion' in result)) return undefined
  return typeof result.protocolVersion === 'string' ? result.protocolVersion : undefined
}

/** Of an answer in the form of everything else that Steward refuses. */
function refusalOf(text: string): string | undefined {
  const answer = parsedJson(text)
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return undefined
  const { error, detail, hint } = answer as Record<string, unknown>
  return [error, detail, hint].filter((it) => typeof it === 'string').join(' ')
}
