import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startLocalServer } from '#agent/api/localServer.ts'
import { createUserSessions } from '#agent/api/userSessions.ts'
import { createLocalEvents } from '#agent/base/localEvents.ts'
import { type AgentModule, composeAgent } from '#agent/compose/composeAgent.ts'
import type { HostedEndpoint } from '#agent/connections/hostedSession.ts'
import { createServiceLink } from '#agent/connections/serviceLink.ts'
import type { ServiceTarget } from '#agent/connections/serviceTarget.ts'
import { loadConfig } from '#config/config.ts'
import { type Log, silentLog } from '#platform/logging/log.ts'
import { Scope } from '#platform/program/scope.ts'
import type { TimeSource } from '#platform/time/timeSource.ts'
import type { LocalEvent, ServiceConnection } from '#shared/contract/localApi.ts'
import type { ModelCommand } from '#shared/contract/supervision.ts'
import { openPersonSession, type PersonSession } from '../clients/personSession.ts'
import { type Answer, exchange, type RequestFields } from './runningService.ts'

/** Address without a listener, because tests use no external network. */
const nowhere = 'http://127.0.0.1:9'

/** Local agent in this process, connected to a real service and wired as in the application. */
export type RunningAgent = AgentModule & {
  origin: string
  /** Headers of the window. */
  session: PersonSession
  connection(): ServiceConnection
  issueToken(): string
  /** Connects as the application does when its service starts or restarts. */
  connect(target: ServiceTarget): void
  events: readonly LocalEvent[]
  /** Sends a request as the window. */
  send(path: string, fields?: RequestFields): Promise<Answer>
  close(): Promise<void>
}

export async function createRunningAgent(options: {
  dataFolder: string
  /** Service that the wallet signs in to. */
  hosted?: HostedEndpoint
  /** Self-hosted service. */
  target?: ServiceTarget
  /** Receives orders instead of a service process. */
  tellService?: (order: ModelCommand) => void
  now?: () => number
  /** Clocks that can jump. Default: follows `now`. */
  time?: TimeSource
  /** URL of a Solana node. */
  solanaRpc?: string
  log?: Log
}): Promise<RunningAgent> {
  const { dataFolder, hosted, target, tellService, now = Date.now, solanaRpc = nowhere, log = silentLog } = options
  const scope = new Scope()
  const config = loadConfig({
    file: '',
    required: false,
    environment: {
      STEWARD_WALLET_SECRET_STORE: 'vault_file',
      STEWARD_WALLET_RPC_BASE: nowhere,
      STEWARD_WALLET_RPC_BASE_SEPOLIA: nowhere,
      STEWARD_WALLET_RPC_SOLANA: solanaRpc,
      STEWARD_WALLET_RPC_SOLANA_DEVNET: nowhere,
    },
  })
  const about = hosted
    ? ({ name: new URL(hosted.url).host, kind: 'hosted' } as const)
    : ({ name: 'This computer', kind: 'embedded' } as const)
  const link = scope.own(createServiceLink({ ...about, log }), (it) => it.close())
  const events = createLocalEvents(link)
  const parts = composeAgent({
    dataFolder,
    config,
    link,
    hosted,
    notifyService: tellService,
    events,
    dialog: undefined,
    scope,
    log,
    now,
    ...(options.time && { time: options.time }),
  })
  const heard: LocalEvent[] = []
  scope.own(
    events.subscribe((event) => heard.push(event)),
    (abort) => abort(),
  )
  const pagesFolder = join(dataFolder, 'pages')
  mkdirSync(pagesFolder, { recursive: true })
  const sessions = createUserSessions()
  const server = scope.own(
    await startLocalServer({
      address: { host: '127.0.0.1', port: 0 },
      pagesFolder,
      link,
      sessions,
      events,
      endpoints: parts.endpoints,
      prompts: parts.prompts,
      identifyClient: parts.identifyClient,
      mcp: parts.mcp.answer,
      tasks: parts.tasks,
      principals: parts.principals,
      isStopped: () => parts.approvals.policy().stopped,
      status: { version: '0.0.0', shell: 'browser', platform: 'linux' },
      log,
    }),
    (it) => it.close(),
  )
  if (target) link.connect(target)
  const origin = `http://127.0.0.1:${server.port}`
  parts.stdioAccess.open(origin)
  const session = await openPersonSession(origin, sessions.issueToken())
  return {
    ...parts,
    origin,
    session,
    connection: link.status,
    issueToken: () => sessions.issueToken(),
    connect: link.connect,
    events: heard,
    send: (path, fields = {}) => exchange(origin, path, { ...fields, headers: { ...session, ...fields.headers } }),
    close: () => scope.close(),
  }
}
