import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, type Environment, loadConfig } from '#config/config.ts'
import type { StartOptions } from '#config/startOptions.ts'
import { openDataFolder, openFolderWarning, warnAboutCopy } from '#platform/files/dataFolder.ts'
import { lockData } from '#platform/files/dataLock.ts'
import { createJsonLog } from '#platform/logging/log.ts'
import { openLogFile } from '#platform/logging/logFile.ts'
import { formatHostAndPort, type ListenAddress, parseListen } from '#platform/net/listenAddress.ts'
import { listenOnRemembered } from '#platform/net/rememberedPort.ts'
import { openStartSocket } from '#platform/net/startSocket.ts'
import { getBuiltFile } from '#platform/program/programFile.ts'
import { releaseIdleMemory } from '#platform/program/releaseIdleMemory.ts'
import { Scope } from '#platform/program/scope.ts'
import { version } from '#platform/program/version.ts'
import type { TimeSource } from '#platform/time/timeSource.ts'
import { AppError } from '#shared/appError.ts'
import type { ServiceReady } from '#shared/contract/supervision.ts'
import type { LocalStatus } from '../api/localRoutes.ts'
import { createUserSessions } from '../api/userSessions.ts'
import type { ApprovalDialog } from '../approvals/approvalDialog.ts'
import { createLocalEvents } from '../base/localEvents.ts'
import type { HostedEndpoint } from '../connections/hostedSession.ts'
import { createServiceLink } from '../connections/serviceLink.ts'
import { runServiceProcess } from '../connections/serviceProcess.ts'

/** Running application: the agent with its local API, and the service that it supervises. */
export type RunningApp = {
  /** Origin of the renderer and the local API. */
  origin: string
  serviceUrl: string
  openBrowser: boolean
  /** Returns a URL that opens the user's session and is valid once. @param onUsed called when the URL is used */
  freshUrl(onUsed?: () => void): string
  /** Called when the screen is locked or the computer goes to sleep. */
  lockWallet(): void
  close(): Promise<void>
}

type Options = Pick<StartOptions, 'dataFolder' | 'config' | 'listen'> & {
  shell: LocalStatus['shell']
  /** Native dialogs of Electron. */
  dialog?: ApprovalDialog
  environment: Environment
  /** Shows one sentence to the user. */
  warn?: (sentence: string) => void
  now: () => number
  time: TimeSource
}

export async function startApp(options: Options): Promise<RunningApp> {
  const { dataFolder, environment, now } = options
  const warnings: string[] = []
  const config = loadConfig({ ...options.config, environment, onWarning: (warning) => void warnings.push(warning) })
  const listenAddress = parseLocalAddress(options.listen ?? config.app.listen)
  const scope = new Scope()
  try {
    await openDataFolder(dataFolder)
    const { previousState: stale } = scope.own(
      await lockData({ folder: dataFolder, name: 'steward.lock', program: 'Steward' }),
      (it) => it.release(),
    )
    const isCopy = stale === 'copied'
    for (const sentence of [...warnings, await openFolderWarning(dataFolder), isCopy && warnAboutCopy(dataFolder)]) {
      if (sentence) options.warn?.(sentence)
    }
    const logFile = scope.own(openLogFile(join(dataFolder, 'logs', 'main.log')), (it) => it.close())
    const log = createJsonLog({ write: logFile.write, now, level: config.log.level })
    const hosted = toHostedEndpoint(config)
    const about = hosted ? getHostedName(hosted) : ({ name: 'This computer', kind: 'embedded' } as const)
    const link = scope.own(createServiceLink({ ...about, log: log.forArea('connection') }), (it) => it.close())
    const { cert_file: certificateFile } = config.service.tls
    const certificate = certificateFile === null ? undefined : readFileSync(certificateFile, 'utf8')
    // Slices subscribe to the link one after the other, and use each other once it connects.
    const composed = Promise.withResolvers<void>()
    const onReady = ({ url, socket: socketPath }: ServiceReady, key: string): void =>
      void composed.promise.then(() => link.connect({ url, key, certificate, socketPath }))
    const onDown = (reason: string): void => void composed.promise.then(() => link.disconnect(reason))
    const service = hosted
      ? undefined
      : scope.own(runServiceProcess({ ...options, log: log.forArea('service'), onReady, onDown }), (it) => it.close())
    // The service starts while this process loads the agent.
    const [{ composeAgent }, { startLocalServer }] = await Promise.all([
      import('./composeAgent.ts'),
      import('../api/localServer.ts'),
    ])
    const unsubscribe = link.onFrozen(() => {
      log.warn('service unresponsive, restarting it')
      service?.restart()
    })
    scope.own(unsubscribe, (it) => it())
    const events = createLocalEvents(link)
    const { dialog } = options
    const notifyService = service?.send
    const agent = composeAgent({
      dataFolder,
      checkData: stale !== 'released',
      config,
      link,
      hosted,
      notifyService,
      events,
      dialog,
      scope,
      log,
      now,
      time: options.time,
    })
    composed.resolve()
    const sessions = createUserSessions({ file: join(dataFolder, 'window.sessions'), now: agent.latestMs })
    const server = scope.own(
      await listenOnRemembered(dataFolder, 'app', listenAddress, (address) =>
        startLocalServer({
          address,
          pagesFolder: getBuiltFile('renderer'),
          link,
          sessions,
          events,
          endpoints: agent.endpoints,
          prompts: agent.prompts,
          identifyClient: agent.identifyClient,
          mcp: agent.mcp.answer,
          tasks: agent.tasks,
          principals: agent.principals,
          isStopped: () => agent.approvals.policy().stopped,
          status: { version, shell: options.shell, platform: process.platform },
          log: log.forArea('api'),
        }),
      ),
      (it) => it.close(),
    )
    service?.send({ event: 'fronts', hosts: localNames.map((host) => formatHostAndPort({ host, port: server.port })) })
    const serviceUrl = hosted?.url ?? (await service?.started)?.url ?? ''
    const origin = `http://${formatHostAndPort({ host: listenAddress.host, port: server.port })}`
    agent.stdioAccess.open(origin)
    const freshUrl = (onUsed?: () => void): string => `${origin}/#token=${sessions.issueToken(onUsed)}`
    scope.own(await openStartSocket(dataFolder, freshUrl), (it) => it?.close())
    scope.own(releaseIdleMemory(), (it) => it.close())
    log.info('ready', { origin, serviceUrl, version })
    return {
      origin,
      serviceUrl,
      openBrowser: config.app.open_browser,
      freshUrl,
      lockWallet: () => agent.wallet.lock('screen'),
      close: () => scope.close(),
    }
  } catch (error) {
    await scope.close()
    throw error
  }
}

/** @throws AppError `config/invalid` */
function toHostedEndpoint({ app: { service_url: url, service_ca_file: file } }: Config): HostedEndpoint | undefined {
  if (url === null) return undefined
  try {
    return { url: url.replace(/\/+$/, ''), authority: file === null ? undefined : readFileSync(file, 'utf8') }
  } catch (cause) {
    throw createUnreadableError(file ?? '', cause)
  }
}

function createUnreadableError(file: string, cause: unknown): AppError {
  return new AppError('config/invalid', `Cannot read ${file}, the file in \`app.service_ca_file\`.`, { cause })
}

function getHostedName({ url }: HostedEndpoint) {
  return { name: new URL(url).host, kind: 'hosted' } as const
}

/** Host names accepted by the guard of the local API. */
const localNames: readonly string[] = ['127.0.0.1', 'localhost', '::1']

function parseLocalAddress(text: string): ListenAddress {
  const address = parseListen(text)
  if (address && localNames.includes(address.host)) return address
  throw new AppError('command/usage', `The interface only listens on loopback, not on ${text}.`, {
    detail: 'To serve other computers, run the standalone service: `npm run service`.',
  })
}
