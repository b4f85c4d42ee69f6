import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AuthInfo, McpHttpHandler } from '@modelcontextprotocol/server'
import type { Exchange } from '#platform/http/exchange.ts'
import { readBody } from '#platform/http/requestBody.ts'
import { parsedJson } from '#platform/parsedJson.ts'

type Given = { handler: Pick<McpHttpHandler, 'fetch'>; authInfo: AuthInfo; maxBytes: number }

/**
 * Brings one request to the protocol's handler, and the answer back. The library's own adapter for Node copies a body that it
 * then parses twice, and writes each answer in pieces: that costs a call as much time as what it asks for.
 *
 * @throws AppError `request/too-large`
 */
export async function mcpExchange(exchange: Exchange, { handler, authInfo, maxBytes }: Given): Promise<void> {
  const { request, response, headers, gone } = exchange
  const { method, url } = request
  const body = await readBody(request, { maxBytes })
  const parsed = parsedJson(body.toString())
  const asked = new Request(`http://${request.headers.host}${url}`, {
    ...{ method: method ?? 'GET', headers: plainHeaders(exchange), signal: gone },
    // The handler itself says what is wrong with what is no JSON.
    ...(parsed === undefined && body.length > 0 && { body: body.toString() }),
  })
  const answer = await handler.fetch(asked, { authInfo, ...(parsed !== undefined && { parsedBody: parsed }) })
  const told = { ...headers }
  answer.headers.forEach((value, name) => {
    told[name] = value
  })
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    await sendEvents(response.writeHead(answer.status, told), answer, gone)
  } else {
    const text = await answer.text()
    response.writeHead(answer.status, { ...told, 'content-length': Buffer.byteLength(text) }).end(text)
  }
}

function plainHeaders({ request }: Exchange): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  )
}

/** As they come, and no faster than they are read. */
async function sendEvents(response: ServerResponse, { body }: Response, gone: AbortSignal): Promise<void> {
  const reader = body?.getReader()
  const leave = (): void => void reader?.cancel().catch(() => {})
  gone.addEventListener('abort', leave, { once: true })
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done || gone.aborted) return
      if (!response.write(value)) await once(response, 'drain', { signal: gone })
    }
  } catch (failure) {
    if (!gone.aborted) throw failure
  } finally {
    gone.removeEventListener('abort', leave)
    response.end()
  }
}
