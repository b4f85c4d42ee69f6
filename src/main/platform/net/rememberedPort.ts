import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ListenAddress } from './listenAddress.ts'
import { canListen } from './loopbackListening.ts'

/** Listens on the address. For port 0, reuses the previous port while it is free, so that saved URLs stay valid. */
export async function listenOnRemembered<T extends { port: number }>(
  folder: string,
  name: string,
  address: ListenAddress,
  listen: (address: ListenAddress) => Promise<T>,
): Promise<T> {
  const rememberedPort = address.port === 0 ? await readRememberedPort(folder, name) : undefined
  const again = rememberedPort !== undefined && (await canListen({ host: address.host, port: rememberedPort }))
  const opened = again
    ? // another program may take the port after this check
      await listen({ host: address.host, port: rememberedPort }).catch(() => listen(address))
    : await listen(address)
  if (opened.port !== rememberedPort) await writeFile(getFile(folder, name), `${opened.port}\n`, { mode: 0o600 })
  return opened
}

async function readRememberedPort(folder: string, name: string): Promise<number | undefined> {
  const text = await readFile(getFile(folder, name), 'utf8').catch(() => '')
  const port = Number(text.trim())
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined
}

function getFile(folder: string, name: string): string {
  return join(folder, `${name}.port`)
}
