import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Proxy to a port of this computer whose connections can be cut. */
export type Relay = { url: string; cut(): void; close(): Promise<void> }

/** @param onConnection called with each new connection, to observe the data that is sent */
export async function startRelay(port: () => number, onConnection: (near: Socket) => void = () => {}): Promise<Relay> {
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port(), '127.0.0.1')
    onConnection(near)
    for (const [source, destination] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(source)
      source.pipe(destination)
      source.on('error', () => destination.destroy())
      source.on('close', () => {
        open.delete(source)
        destination.destroy()
      })
    }
  })
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        cut()
      }),
  }
}
