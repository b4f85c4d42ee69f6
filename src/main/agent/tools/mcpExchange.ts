import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AuthInfo, McpHttpHandler } from '@modelcontextprotocol/server'
import type { Exchange } from '#platform/http/exchange.ts'
import { readBody } from '#platform/http/requestBody.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'

type ExchangeOptions = { handler: Pick<McpHttpHandler, 'fetch'>; authInfo: AuthInfo; maxBytes: number }

/**
 * Passes one request to the MCP handler and writes the response. The library's Node.js adapter copies a body and parses
 * it twice, and writes each response in chunks, which takes as long as the call.
 * @throws AppError `request/too-large`
 */
export async function runMcpExchange(
  exchange: Exchange,
  { handler, authInfo, maxBytes }: ExchangeOptions,
): Promise<void> {
  const { request, response, headers, disconnected } = exchange
  const { method, url } = request
  const body = await readBody(request, { maxBytes })
  const parsed = parseJsonOrUndefined(body.toString())
  const webRequest = new Request(`http://${request.headers.host}${url}`, {
    ...{ method: method ?? 'GET', headers: toPlainHeaders(exchange), signal: disconnected },
    // The handler reports errors of invalid JSON.
    ...(parsed === undefined && body.length > 0 && { body: body.toString() }),
  })
  const answer = await handler.fetch(webRequest, { authInfo, ...(parsed !== undefined && { parsedBody: parsed }) })
  const responseHeaders = { ...headers }
  answer.headers.forEach((value, name) => {
    responseHeaders[name] = value
  })
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    await sendEvents(response.writeHead(answer.status, responseHeaders), answer, disconnected)
  } else {
    const text = await answer.text()
    response.writeHead(answer.status, { ...responseHeaders, 'content-length': Buffer.byteLength(text) }).end(text)
  }
}

function toPlainHeaders({ request }: Exchange): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  )
}

/** Forwards events as they arrive, with backpressure. */
async function sendEvents(response: ServerResponse, { body }: Response, disconnected: AbortSignal): Promise<void> {
  const reader = body?.getReader()
  const cancel = (): void => void reader?.cancel().catch(() => {})
  disconnected.addEventListener('abort', cancel, { once: true })
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done || disconnected.aborted) return
      if (!response.write(value)) await once(response, 'drain', { signal: disconnected })
    }
  } catch (error) {
    if (!disconnected.aborted) throw error
  } finally {
    disconnected.removeEventListener('abort', cancel)
    response.end()
  }
}
