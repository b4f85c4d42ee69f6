import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

/**
 * Minimal gateway in Node. Forwards each request unchanged with node:http and an undici pool, without keys, models or
 * prices. Prints its port and exits when stdin ends. Usage: `node bareProxy.ts PROVIDER_PORT`.
 */
const provider = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: 64 })

const server = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    void provider.stream(
      {
        method: 'POST',
        path: request.url ?? '/',
        headers: { 'content-type': 'application/json' },
        body: Buffer.concat(pieces),
      },
      ({ statusCode, headers }) => response.writeHead(statusCode, headers),
    )
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(String((server.address() as AddressInfo).port)))
process.stdin.resume().on('end', () => process.exit(0))
