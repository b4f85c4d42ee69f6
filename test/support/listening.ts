import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Listening = { host: string; url: string; close(): Promise<void> }

/** The server at a free port of 127.0.0.1; `close` ends its connections too. */
export async function createListening(server: Server): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}` // of a TCP server that listens
  return {
    host,
    url: `http://${host}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
