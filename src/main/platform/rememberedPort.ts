import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'

export type Address = { host: string; port: number }

/**
 * Chooses the port to listen on where the address leaves it open (port 0): the one of last time when it is free,
 * so that addresses people wrote down stay good.
 */
export async function choosePort(folder: string, name: string, address: Address): Promise<number> {
  if (address.port !== 0) return address.port
  const port = await remembered(folder, name)
  return port !== undefined && (await isFree({ host: address.host, port })) ? port : 0
}

export async function rememberPort(folder: string, name: string, port: number): Promise<void> {
  if ((await remembered(folder, name)) !== port) await writeFile(fileOf(folder, name), `${port}\n`, { mode: 0o600 })
}

async function remembered(folder: string, name: string): Promise<number | undefined> {
  const text = await readFile(fileOf(folder, name), 'utf8').catch(() => '')
  const port = Number(text.trim())
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined
}

function fileOf(folder: string, name: string): string {
  return join(folder, `${name}.port`)
}

function isFree({ host, port }: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
