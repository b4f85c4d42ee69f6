import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Listening = { host: string; url: string; close(): Promise<void> }

/** Starts the server on a free port of 127.0.0.1. `close` also closes its connections. */
export async function createListening(server: Server): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}` // a listening TCP server has an AddressInfo
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
