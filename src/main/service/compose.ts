import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { registerTypedData } from '../../shared/contract/automatons.ts'
import { routeTable } from '../../shared/contract/routeTable.ts'
import type { Network } from '../../shared/contract/sandboxes.ts'
import { openDataFolder } from '../platform/dataFolder.ts'
import type { ListenAddress } from '../platform/listenAddress.ts'
import type { Log } from '../platform/log.ts'
import { Scope } from '../platform/scope.ts'
import { migrate } from '../storage/migrate.ts'
import { serviceMigrations } from '../storage/migrations/serviceMigrations.ts'
import { openDatabase } from '../storage/openDatabase.ts'
import { accountRepository } from './accounts/accountRepository.ts'
import { accountRoutes } from './accounts/accountRoutes.ts'
import { apiKeys } from './accounts/apiKeys.ts'
import { ensureOwner } from './accounts/ownerAccount.ts'
import { activityLog } from './activity/activityLog.ts'
import { activityRepository } from './activity/activityRepository.ts'
import { activityRoutes } from './activity/activityRoutes.ts'
import { accessTokens } from './auth/accessTokens.ts'
import { authRoutes } from './auth/authRoutes.ts'
import { linkedWallets } from './auth/linkedWallets.ts'
import { nonceRepository } from './auth/nonceRepository.ts'
import { nonces } from './auth/nonces.ts'
import { refreshTokenRepository } from './auth/refreshTokenRepository.ts'
import { signInChecks } from './auth/signInChecks.ts'
import { signIns } from './auth/signIns.ts'
import { tokenSecret } from './auth/tokenSecret.ts'
import { walletRepository } from './auth/walletRepository.ts'
import { docsPages } from './docs/docsPages.ts'
import { eventHub } from './events/eventHub.ts'
import { hostEvents } from './events/hostEvents.ts'
import { downloadRoutes } from './files/downloadRoutes.ts'
import { treeRoutes } from './files/treeRoutes.ts'
import { uploadRepository } from './files/uploadRepository.ts'
import { uploadRoutes } from './files/uploadRoutes.ts'
import { uploads } from './files/uploads.ts'
import type { HostCall } from './host/hostCalls.ts'
import { hostConnection } from './host/hostConnection.ts'
import { authentication } from './http/authentication.ts'
import { callerAddress } from './http/callerAddress.ts'
import { failureLimiter } from './http/failureLimiter.ts'
import { healthRoutes } from './http/healthRoutes.ts'
import { closeServer, httpServer } from './http/httpServer.ts'
import { checkListening, listen, localUrl } from './http/listening.ts'
import { ownHost } from './http/ownHost.ts'
import { previewAccess } from './http/previewAccess.ts'
import { openPath } from './http/previewPages.ts'
import { previews } from './http/previews.ts'
import { type RateLimitNumbers, rateLimits } from './http/rateLimits.ts'
import { requestGuard } from './http/requestGuard.ts'
import { terminalPage } from './http/terminalPage.ts'
import { webSockets } from './http/webSockets.ts'
import { answerRepository } from './idempotency/answerRepository.ts'
import { idempotentAnswers } from './idempotency/idempotentAnswers.ts'
import { automatonNonces } from './identity/automatonNonces.ts'
import { automatonRepository } from './identity/automatonRepository.ts'
import { automatonRoutes } from './identity/automatonRoutes.ts'
import { automatons } from './identity/automatons.ts'
import { idlePolicy } from './idle/idlePolicy.ts'
import { sandboxUse } from './idle/sandboxUse.ts'
import { imageRoutes, imageToWire } from './images/imageRoutes.ts'
import { images } from './images/images.ts'
import { metricsRoutes } from './metrics/metricsRoutes.ts'
import { processRoutes } from './metrics/processRoutes.ts'
import { exposedPorts } from './ports/exposedPorts.ts'
import { portNames } from './ports/portNames.ts'
import { portRepository } from './ports/portRepository.ts'
import { portRoutes } from './ports/portRoutes.ts'
import { portTokens } from './ports/portTokens.ts'
import { sandboxDomainRepository } from './sandboxDomains/sandboxDomainRepository.ts'
import { sandboxDomainRoutes } from './sandboxDomains/sandboxDomainRoutes.ts'
import { sandboxDomains } from './sandboxDomains/sandboxDomains.ts'
import { fileRoutes } from './sandboxes/fileRoutes.ts'
import { runtimeReports } from './sandboxes/runtimeReports.ts'
import { sandboxRegistry } from './sandboxes/sandboxRegistry.ts'
import { type SandboxRecord, sandboxRepository } from './sandboxes/sandboxRepository.ts'
import { sandboxRoutes } from './sandboxes/sandboxRoutes.ts'
import { sandboxToWire } from './sandboxes/sandboxWire.ts'
import { snapshotRepository } from './snapshots/snapshotRepository.ts'
import { snapshotRoutes } from './snapshots/snapshotRoutes.ts'
import { snapshots } from './snapshots/snapshots.ts'
import { terminalActivity } from './terminals/terminalActivity.ts'
import { terminalLinkRepository } from './terminals/terminalLinkRepository.ts'
import { terminalLinks } from './terminals/terminalLinks.ts'
import { terminalRoutes } from './terminals/terminalRoutes.ts'
import { terminalStream } from './terminals/terminalStream.ts'
import { terminalToWire } from './terminals/terminalWire.ts'

export type ServiceOptions = {
  /** Holds `service.sqlite` and `owner.key`; made when it is not there. */
  dataDir: string
  /** Port 0 lets the system choose. Beyond loopback it needs `tls` or `insecureBehindProxy`. */
  listen: ListenAddress
  /** The contents of the files, in PEM. */
  tls?: { cert: string; key: string } | undefined
  insecureBehindProxy?: boolean | undefined
  /** Under which others reach it, e.g. `https://steward.example`; absent is its own address. */
  publicUrl?: string | undefined
  /** Suffix of the addresses of exposed ports, with TLS in front; without one they are below `localhost`. */
  sandboxHost?: string | undefined
  /** Domains for which sign-in messages are taken, beside the address that a request came to. */
  signInDomains?: readonly string[] | undefined
  /** host:port of the applications that hand requests on to it, as they become known; signing in works there too. */
  ownFronts?: (() => readonly string[]) | undefined
  /** Whether a wallet that no account has gets one of its own; it does when absent. */
  newAccounts?: boolean | undefined
  rateLimits?: RateLimitNumbers | undefined
  /** Names of runtimes, the preferred one first. */
  runtimes: readonly string[]
  /** The built interface, for terminal links. */
  pagesFolder?: string | undefined
  version: string
  hostSocketPath: string
  /** Starts a sandbox host when nobody listens on that socket. */
  launchHost: () => Promise<void>
  /** How long after a loss of the host a call still waits for it. */
  hostWaitMs?: number | undefined
  /** Of a sandbox whose creator names none. */
  defaultNetwork?: Network | undefined
  /** How often idle sandboxes are looked for. */
  idleCheckMs?: number | undefined
  /** So many sandboxes may run at once. */
  mostActiveSandboxes?: number | undefined
  /** Name of the EIP-712 domain that automatons are registered for. */
  identityDomainName?: string | undefined
  log: Log
  now: () => number
}

export type RunningService = {
  url: string
  port: number
  ownerKeyFile: string
  /** Lets requests under way end, for a while; the sandbox host goes on. */
  close(): Promise<void>
}

const defaultHostWaitMs = 10_000
/** Far more than a person watches, and few enough that a loop gone wild does not take the machine down. */
const mostActiveSandboxes = 256
const idleCheckMs = 15_000
const defaultRateLimits = { perKey: 6_000, perAddress: 12_000, signInsPerAddress: 300 } as const
const closeDeadlineMs = 10_000

/** @throws AppError `listen/insecure`, `listen/failed`, `data/unusable`, `data/newer` */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { dataDir, log, now } = options
  const { beyondLoopback } = checkListening({
    listen: options.listen,
    tls: options.tls !== undefined,
    insecureBehindProxy: options.insecureBehindProxy ?? false,
  })
  const scheme = options.tls ? 'https' : 'http'
  const publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl)
  let ownUrl = ''
  const baseUrl = () => publicUrl?.href.replace(/\/+$/, '') ?? ownUrl

  const scope = new Scope()
  try {
    await openDataFolder(dataDir)
    const database = scope.own(openDatabase(join(dataDir, 'service.sqlite')), (it) => it.close())
    migrate(database, serviceMigrations)

    const accounts = accountRepository(database)
    const ownerKeyFile = join(dataDir, 'owner.key')
    ensureOwner({ accounts, keyFile: ownerKeyFile, now, randomBytes })
    const keys = apiKeys({ accounts, now, randomBytes })
    const wallets = walletRepository(database)
    const sessions = refreshTokenRepository(database)
    const access = accessTokens({ secret: tokenSecret(join(dataDir, 'token.secret'), randomBytes), sessions, now })
    const signInNonces = nonces({ records: nonceRepository(database), now, randomBytes })
    const checks = signInChecks({
      nonces: signInNonces,
      domains: () => [
        ...(publicUrl ? [publicUrl.host] : []),
        ...(options.signInDomains ?? []),
        ...(options.ownFronts?.() ?? []),
      ],
      now,
    })
    const links = terminalLinks({ links: terminalLinkRepository(database), now, randomBytes })
    const events = eventHub()

    const portRecords = portRepository(database)
    const domainRecords = sandboxDomainRepository(database)
    const names = portNames({
      isDomain: (name) => domainRecords.find(name) !== undefined,
      sandboxHost: options.sandboxHost,
      serviceUrl: () => ownUrl,
      ownNames: [options.listen.host, ...(publicUrl ? [publicUrl.hostname] : [])],
    })
    const ports = exposedPorts({
      records: portRecords,
      urlOf: names.urlOf,
      leadsTo: domainRecords.find,
      onChanged: (id) => sandboxes.announce(id),
    })
    const tokens = portTokens({ records: portRecords, now, randomBytes })
    const toWire = (record: SandboxRecord) =>
      sandboxToWire(record, {
        baseUrl: baseUrl(),
        ports: ports.list(record.id).map(({ port, url }) => ({ port, url })),
      })

    const use = sandboxUse(now)
    const call: HostCall = use.watchedCall((...request) => host.call(...request))
    const runtimes = runtimeReports({ call, order: options.runtimes })
    const activity = activityLog({
      records: activityRepository(database),
      newId: () => `act_${randomBytes(12).toString('hex')}`,
      now,
      onNoted: ({ accountId, sequence }) => events.publish(accountId, { type: 'activity.noted', sequence }),
      log: log.of('activity'),
    })
    const terminalNotes = terminalActivity(activity)
    const records = sandboxRepository(database)
    const domains = sandboxDomains({
      records: domainRecords,
      ports,
      isOwn: names.isOwn,
      sandboxHost: options.sandboxHost,
      serviceUrl: () => ownUrl,
      note: activity.note,
      now,
    })
    const sharedImages = images({ call, runtimes, records })
    const sandboxes = sandboxRegistry({
      records,
      call,
      runtimes,
      images: sharedImages,
      publish: events.publish,
      note: activity.note,
      noteAccount: activity.noteAccount,
      toWire,
      defaultNetwork: options.defaultNetwork ?? 'none',
      mostActive: options.mostActiveSandboxes ?? mostActiveSandboxes,
      newId: () => randomBytes(16).toString('hex'),
      now,
      log: log.of('sandboxes'),
    })
    const kept = snapshots({
      records: snapshotRepository(database),
      sandboxes,
      call,
      publish: events.publish,
      note: activity.note,
      newId: () => randomBytes(12).toString('hex'),
      now,
      log: log.of('snapshots'),
    })
    const tell = hostEvents({
      sandboxes,
      terminals: terminalNotes,
      publish: events.publish,
      publishToAll: events.publishToAll,
      toWire: terminalToWire,
      imageToWire,
    })
    const host = scope.own(
      hostConnection({
        path: options.hostSocketPath,
        launch: options.launchHost,
        onEvent(event) {
          if (event.type === 'terminal.changed') use.used(event.terminal.sandboxId)
          tell(event)
        },
        onNobody: sandboxes.hostGone,
        async onConnected(hostCall) {
          runtimes.forget()
          await sandboxes.reconcile(hostCall)
          await kept.reconcile(hostCall)
          await terminalNotes.catchUp(
            hostCall,
            records.all().map(({ id }) => id),
          )
          events.publishReady()
          void transfers.sweep()
        },
        waitMs: options.hostWaitMs ?? defaultHostWaitMs,
        log: log.of('host'),
        now,
      }),
      (it) => it.close(),
    )

    scope.own(
      idlePolicy({
        records,
        use,
        sandboxes,
        call,
        everyMs: options.idleCheckMs ?? idleCheckMs,
        now,
        log: log.of('idle'),
      }),
      (it) => it.close(),
    )

    const transfers = scope.own(
      uploads({
        records: uploadRepository(database),
        call,
        isRunning: (id) => sandboxes.find(id)?.status === 'running',
        onComplete: ({ sandboxId, path, size }) =>
          activity.note(sandboxId, { type: 'file.written', description: `${size} bytes were written to ${path}.` }),
        randomBytes,
        now,
        log: log.of('uploads'),
      }),
      (it) => it.close(),
    )

    const automatonRecords = automatonRepository(database)
    const identities = automatons({
      records: automatonRecords,
      nonces: automatonNonces({ records: automatonRecords, now, randomBytes }),
      wallets,
      domainName: options.identityDomainName ?? registerTypedData.defaultDomainName,
      publish: events.publish,
      noteAccount: activity.noteAccount,
      now,
    })

    const closing = new AbortController()
    const guard = requestGuard({ beyondLoopback, listenHost: options.listen.host, publicUrl, scheme })
    const limiter = failureLimiter(now)
    const addressOf = callerAddress({ behindProxy: options.insecureBehindProxy ?? false })
    const limits = rateLimits(options.rateLimits ?? defaultRateLimits, now)
    const finders = [keys.identify, access.identify, links.identify]
    const known = authentication({ finders, limiter, admit: limits.known })
    const accessEnded = () => peers.checkAccess()
    const sockets = [terminalStream({ sandboxes, host }), events.endpoint]
    const app = httpServer({
      endpoints: [
        ...healthRoutes({ version: options.version, now }),
        ...accountRoutes({ keys, noteAccount: activity.noteAccount, onRevoked: accessEnded }),
        ...authRoutes({
          nonces: signInNonces,
          signIns: signIns({
            checks,
            wallets,
            accounts,
            sessions,
            access,
            newAccounts: options.newAccounts ?? true,
            note: activity.noteAccount,
            onEnded: accessEnded,
            now,
            randomBytes,
          }),
          linked: linkedWallets({
            checks,
            wallets,
            accounts,
            sessions,
            note: activity.noteAccount,
            onEnded: accessEnded,
            now,
          }),
          wallets,
          accounts,
        }),
        ...imageRoutes(sharedImages),
        ...sandboxRoutes({ sandboxes, runtimes, call, activity, toWire }),
        ...snapshotRoutes({ snapshots: kept, toWire }),
        ...portRoutes({ sandboxes, ports, tokens, urlOf: names.urlOf, openPath }),
        ...sandboxDomainRoutes({ sandboxes, domains }),
        ...fileRoutes({ sandboxes, call, activity }),
        ...treeRoutes({ sandboxes, call }),
        ...downloadRoutes({ sandboxes, call, archive: use.watchedArchive((...request) => host.archive(...request)) }),
        ...uploadRoutes({ sandboxes, uploads: transfers }),
        ...terminalRoutes({
          sandboxes,
          links,
          call,
          activity: terminalNotes,
          baseUrl,
          newTerminalId: () => `pty_${randomBytes(12).toString('hex')}`,
        }),
        ...metricsRoutes({ sandboxes, call, now }),
        ...processRoutes({ sandboxes, call }),
        ...activityRoutes({ sandboxes, activity }),
        ...automatonRoutes(identities),
      ],
      socketPaths: sockets.map(({ path }) => path),
      pages: [docsPages({ routes: routeTable, version: options.version }), terminalPage(options.pagesFolder)],
      guard,
      authentication: known,
      limits,
      addressOf,
      ownHost: ownHost({ listenHost: options.listen.host, scheme }),
      idempotency: idempotentAnswers({ answers: answerRepository(database), now }),
      closing: closing.signal,
      tls: options.tls,
      log: log.of('http'),
    })
    scope.own(app, (it) => closeServer(it, closeDeadlineMs))
    const peers = scope.own(
      webSockets({
        server: app.server,
        endpoints: sockets,
        guard,
        authentication: known,
        addressOf,
        isElsewhere: (name) => names.labelOf(name) !== undefined,
        linkHolder: links.identify,
        isHeld: (credential) => finders.some((find) => find(credential) !== undefined),
        log: log.of('sockets'),
      }),
      (it) => it.close(),
    )
    scope.own(
      previews({
        server: app.server,
        names,
        ports,
        sandbox: sandboxes.find,
        access: previewAccess({
          keyHolder: (key) => keys.identify(key) ?? access.identify(key),
          tokens,
          accountOf: sandboxes.accountOf,
          limiter,
          addressOf,
        }),
        connect: use.watchedConnect((...request) => host.connect(...request)),
        scheme,
        behindProxy: options.insecureBehindProxy ?? false,
        closing: closing.signal,
        log: log.of('ports'),
      }),
      (it) => it.close(),
    )
    scope.own(closing, (it) => it.abort())

    const port = await listen(app, options.listen)
    ownUrl = localUrl({ host: options.listen.host, port }, scheme)
    log.info('the service listens', { url: ownUrl })
    return { url: ownUrl, port, ownerKeyFile, close: () => scope.close() }
  } catch (failure) {
    await scope.close()
    throw failure
  }
}
