import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../fixtures/temporaryFolder.ts'
import { nameSiloKey, nameSiloServer } from './nameSiloServer.ts'

/** Starts a registrar that counts as real, for services with real payments. A `.com` costs 13.95. */
export async function realRegistrar() {
  const server = await nameSiloServer()
  const keyFile = join(temporaryFolder('registrar'), 'registrar.key')
  writeFileSync(keyFile, `${nameSiloKey}\n`, { mode: 0o600 })
  const namesilo = { api_key_file: keyFile, url: server.url, sandbox: false }
  return { config: { registrar: { namesilo } }, server, close: server.close }
}
