import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEndOfFile } from '../runner/endOfFile.ts'

/**
 * Starts a proxy to `/mcp` of an agent that adds the key, for conformance tools that cannot send one. Host and origin
 * headers that name the proxy are rewritten to the agent's. Others pass through unchanged.
 */
export async function startMcpAuthProxy({ origin, key }: { origin: string; key: string }): Promise<string> {
  const target = new URL(origin)
  const server = createServer((request, response) => {
    const address = `${request.socket.localAddress}:${request.socket.localPort}`
    const rename = (value: string | undefined) => value?.replace(address, target.host)
    const headers: Record<string, string | string[] | undefined> = {
      ...request.headers,
      authorization: `Bearer ${key}`,
      host: rename(request.headers.host),
      ...(request.headers.origin !== undefined && { origin: rename(request.headers.origin) }),
    }
    const { method, url: path } = request
    const onward = httpRequest({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEndOfFile(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}
