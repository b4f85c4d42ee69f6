import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { request as send } from 'undici'
import { type RunningHost, startHost } from '#host/compose.ts'
import { createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import type { SandboxRuntime } from '#host/runtimes/sandboxRuntime.ts'
import { type Log, silentLog } from '#platform/logging/log.ts'
import { getHostFolder, getHostSocketPath } from '#platform/net/hostSocket.ts'
import { type RunningService, startService } from '#service/compose/compose.ts'
import type { ServiceOptions } from '#service/compose/serviceOptions.ts'
import { assertDocumented } from '../assertions/documentedResponses.ts'
import { createStewardClient, type StewardClient } from '../clients/stewardClient.ts'
import { temporaryFolder } from '../fixtures/temporaryFolder.ts'
import { createServiceDatabase } from './serviceDatabase.ts'

/** Real service with the real host in this process, on a new folder. */
export type TestService = {
  readonly url: string
  readonly dataDir: string
  readonly dnsPort: number | undefined
  /** Owner's API key. */
  readonly key: string
  readonly client: StewardClient
  /** Models that the application passes to the service. */
  readonly models: RunningService['models']
  send(path: string, fields?: RequestFields): Promise<Answer>
  /** Restarts the service on the same folder while the host keeps running. `between` runs while the service is down. */
  restart(between?: () => void): Promise<void>
  /** Stops the host. The service then restarts it. */
  endHost(): Promise<void>
  close(): Promise<void>
}

export type RequestFields = {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  /** Added to the owner's key. Use `headers: {}` with `key: null` to send none. */
  headers?: Record<string, string>
  key?: string | null
  /** Objects are sent as JSON. */
  body?: unknown
}

export type Answer = {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  json: Json
}
/** Untyped, because tests check it with matchers. */
// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, checked by matchers
export type Json = any

export type TestServiceOptions = Partial<ServiceOptions> & {
  /** `none`: nothing listens on the host's socket. */
  host?: 'none' | 'own'
  runtimeOf?: (options: { folder: string; log: Log; now: () => number }) => SandboxRuntime
}

export async function runningService({ host = 'own', ...options }: TestServiceOptions = {}): Promise<TestService> {
  const { runtimeOf = createBubblewrapRuntime, ...rest } = options
  const dataDir = rest.dataDir ?? temporaryFolder('service')
  const databaseUrl = rest.databaseUrl ?? (await createServiceDatabase())
  const log = rest.log ?? silentLog
  const now = rest.now ?? Date.now
  let running: RunningHost | undefined
  const launchHost = async (): Promise<void> => {
    if (host === 'none') return
    running = await startHost({
      dataDir,
      runtimes: [runtimeOf({ folder: join(getHostFolder(dataDir), 'machines'), log, now })],
      version: '0.0.0',
      pid: process.pid,
      now,
      log,
    })
  }
  const start = (): Promise<RunningService> =>
    startService({
      ...{ dataDir, databaseUrl },
      listen: { host: '127.0.0.1', port: 0 },
      runtimes: ['bubblewrap'],
      version: '0.0.0',
      hostSocketPath: getHostSocketPath(dataDir),
      launchHost,
      hostWaitMs: host === 'none' ? 0 : 60_000,
      log,
      now,
      ...rest,
    })
  let service = await start()
  const key = readFileSync(service.ownerKeyFile, 'utf8').trim()

  return {
    dataDir,
    key,
    get url() {
      return service.url
    },
    get dnsPort() {
      return service.dnsPort
    },
    get client() {
      return createStewardClient(service.url, key)
    },
    get models() {
      return service.models
    },
    send: (path, fields = {}) => exchange(service.url, path, { key, ...fields }),
    async restart(between) {
      await service.close()
      between?.()
      service = await start()
    },
    async endHost() {
      await running?.close()
      running = undefined
    },
    async close() {
      await service.close()
      await running?.close()
    },
  }
}

export async function exchange(url: string, path: string, fields: RequestFields): Promise<Answer> {
  const { method = fields.body === undefined ? 'GET' : 'POST', key, body } = fields
  const isJson = body !== undefined && typeof body !== 'string'
  const answer = await send(`${url}${path}`, {
    method,
    headers: {
      ...(typeof key === 'string' && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...fields.headers,
    },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : String(body) }),
    headersTimeout: 120_000,
    bodyTimeout: 120_000,
  })
  const text = await answer.body.text()
  const json = parseBody(text)
  const isElsewhere = fields.headers?.host !== undefined // such as the address of a sandbox port
  if (!isElsewhere) await assertDocumented({ method, address: path, status: answer.statusCode, json })
  return { status: answer.statusCode, headers: answer.headers, text, json }
}

function parseBody(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
