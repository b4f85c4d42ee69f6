import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Config, loadConfig, readEnvironment, readHostEnvironment } from '#config/config.ts'
import { readDatabaseUrl } from '#config/databaseConfig.ts'
import { toDockerOptions } from '#config/dockerConfig.ts'
import { readRegistrarOptions } from '#config/domainsConfig.ts'
import { readInferenceOptions } from '#config/inferenceConfig.ts'
import { readPaymentOptions } from '#config/paymentsConfig.ts'
import { createWrongListenError, resolvePaths, serviceLine } from '#config/startOptions.ts'
import { openDataFolder, openFolderWarning, warnAboutCopy } from '#platform/files/dataFolder.ts'
import { lockData } from '#platform/files/dataLock.ts'
import { findRdapList } from '#platform/files/rdapListFile.ts'
import { createJsonLog, type Log } from '#platform/logging/log.ts'
import { getHostSocketPath } from '#platform/net/hostSocket.ts'
import { isLoopback, type ListenAddress, parseListen } from '#platform/net/listenAddress.ts'
import { toSocketPath } from '#platform/net/privateSocket.ts'
import { listenOnRemembered } from '#platform/net/rememberedPort.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import {
  formatCommandError,
  formatHelp,
  type ParsedCommand,
  parseCommandLine,
  toExitCode,
} from '#platform/program/commandLine.ts'
import { handleEndSignals } from '#platform/program/endSignals.ts'
import { getBuiltFile } from '#platform/program/programFile.ts'
import { releaseIdleMemory } from '#platform/program/releaseIdleMemory.ts'
import { Scope } from '#platform/program/scope.ts'
import { version } from '#platform/program/version.ts'
import { createTimeSource } from '#platform/time/timeSource.ts'
import type { NewWallets } from '#service/auth/signIns.ts'
import { type RunningService, startService } from '#service/compose/compose.ts'
import { createHostLauncher, type HostSettings } from '#service/host/launchedHost.ts'
import { AppError } from '#shared/appError.ts'
import { type ModelCommand, ServiceCommand } from '#shared/contract/supervision.ts'

/** Maximum wait of a supervised service for the previous one to exit. */
const supervisedLockMs = 20_000

/**
 * Runs the service as a process: standalone on a server, or `--supervised` by the application, with which it then
 * exits.
 */
async function run(parsed: ParsedCommand): Promise<void> {
  const { dataFolder, config: configFile } = resolvePaths(parsed, readEnvironment())
  const warnings: string[] = []
  const onWarning = (warning: string) => void warnings.push(warning)
  const config = loadConfig({ ...configFile, environment: readEnvironment(), onWarning })
  const supervised = parsed.has('supervised')
  const scope = new Scope()
  let fronts: readonly string[] = []
  let personKey: string | undefined
  const models = createModelCommandQueue()
  // SIGHUP from a closing terminal stops the service. If there is no terminal, it reloads the certificate.
  const reloading: { reload?: () => void } = {}
  const mayReload = !supervised && !process.stdin.isTTY
  const reload = mayReload ? () => reloading.reload?.() : undefined
  const ended = waitForExitReason({ supervised, reload }, (order) => {
    if (order.event === 'fronts') fronts = order.hosts
    else if (order.event === 'person') personKey = order.key
    else models.take(order)
  })
  try {
    await openDataFolder(dataFolder)
    const waitMs = supervised ? supervisedLockMs : 0
    const lock = await lockData({ folder: dataFolder, name: 'service.lock', program: 'The Steward service', waitMs })
    const { previousState } = scope.own(lock, (it) => it.release())
    for (const sentence of [
      ...warnings,
      await openFolderWarning(dataFolder),
      previousState === 'copied' && warnAboutCopy(dataFolder),
    ]) {
      if (sentence && !supervised) warn(sentence)
    }
    const log = createJsonLog({ write: (line) => process.stderr.write(line), now: Date.now, level: config.log.level })
    const host = scope.own(createHostLauncher(dataFolder, toHostSettings(config, supervised)), (it) =>
      it.endUnreached(),
    )
    const { cert_file: certFile, key_file: keyFile } = config.service.tls
    const certificate =
      certFile !== null && keyFile !== null ? () => ({ cert: readPem(certFile), key: readPem(keyFile) }) : undefined
    const privateSocketPath = supervised ? getSocketPath(dataFolder) : undefined
    const service = scope.own(
      await listenOnPreviousAddress(
        { dataFolder, address: listenAddress(parsed, config), again: parsed.has('again'), log },
        (listen) =>
          startService({
            dataDir: dataFolder,
            checkData: previousState !== 'released',
            databaseUrl: supervised ? undefined : readDatabaseUrl(config.service.database),
            listen,
            privateSocketPath,
            ...(certificate && { tls: certificate() }),
            insecureBehindProxy: config.service.insecure_behind_proxy || parsed.has('insecure-behind-proxy'),
            ...(config.service.public_url !== null && { publicUrl: config.service.public_url }),
            ...(config.service.sandbox_host !== null && { sandboxHost: config.service.sandbox_host }),
            signInDomains: config.auth.domains,
            ownFronts: () => fronts,
            rateLimits: toRateLimits(config),
            newWallets: toNewWallets(config, supervised),
            personKey: () => personKey,
            defaultNetwork: config.sandboxes.default_network,
            runtimes: config.sandboxes.runtimes,
            identityDomainName: config.identity.domain_name,
            ownerStartCents: config.credits.owner_start_cents,
            dnsListen: toDnsAddress(config, supervised),
            registrar: readRegistrarOptions(config.domains.registrar),
            rdapBootstrapFile: config.domains.rdap_bootstrap_file ?? findRdapList(dataFolder),
            ...(config.domains.resolvers.length > 0 && { resolvers: config.domains.resolvers }),
            inference: readInferenceOptions(config.inference),
            payments: readPaymentOptions(config.payments, supervised),
            chargeSandboxes: config.credits.charge_sandboxes && !supervised,
            pagesFolder: getBuiltFile('renderer'),
            version,
            hostSocketPath: getHostSocketPath(dataFolder),
            launchHost: host.launch,
            log,
            now: Date.now,
            time: createTimeSource(),
          }),
      ),
      (it) => it.close(),
    )
    models.obey(service.models)
    scope.own(releaseIdleMemory(), (it) => it.close())
    process.stdout.write(formatReadyText(parsed.has('json'), { ...service, socket: privateSocketPath }))
    reloading.reload = () => {
      if (!certificate) {
        log.info('no TLS certificate configured, nothing to reload')
        return
      }
      try {
        service.setCertificate(certificate())
        log.info('TLS certificate reloaded')
      } catch (error) {
        log.error('failed to reload the TLS certificate, still using the current one', { error })
      }
    }
    log.info('service shutting down', { reason: await ended })
  } finally {
    await scope.close()
  }
}

function toHostSettings(config: Config, supervised: boolean): HostSettings {
  const { runtimes, warm_pool_size: warmPoolSize, cpu_weight: cpuWeight } = config.sandboxes
  return {
    ...{ runtimes, warmPoolSize: warmPoolSize ?? undefined, cpuWeight },
    docker: toDockerOptions(config),
    logLevel: config.log.level,
    isSmall: supervised,
    environment: readHostEnvironment(),
  }
}

/** Resolves with the reason to exit: a signal, or the exit of the supervising application. */
function waitForExitReason(
  { supervised, reload }: { supervised: boolean; reload: (() => void) | undefined },
  onOrder: (order: ServiceCommand) => void,
): Promise<string> {
  return new Promise((resolve) => {
    handleEndSignals({ end: resolve, force: () => process.exit(1), reload, now: Date.now })
    if (!supervised) return
    for (const event of ['error', 'close', 'end']) process.stdin.on(event, () => resolve('the application exited'))
    createInterface(process.stdin).on('line', (line) => {
      const order = ServiceCommand.safeParse(parseJsonOrUndefined(line))
      if (order.success) onOrder(order.data)
    })
  })
}

/** Queues model commands that arrive before the service is ready. The queue exists only in memory. */
function createModelCommandQueue() {
  const early: ModelCommand[] = []
  let service: RunningService['models'] | undefined
  const done = (order: ModelCommand): void => {
    if (order.event === 'provider-key') service?.setProviderKey(order.family, order.key ?? undefined)
    else if (order.event === 'models-stopped') service?.setStopped(order.stopped)
    else service?.setLocalServers(order.servers.map(toLocalServer))
  }
  return {
    take(order: ModelCommand): void {
      if (service) done(order)
      else early.push(order)
    },
    obey(running: RunningService['models']): void {
      service = running
      for (const order of early.splice(0)) done(order)
    },
  }
}

type AnnouncedServer = Extract<ModelCommand, { event: 'local-models' }>['servers'][number]

function toLocalServer({ name, base_url: baseUrl, api_key: apiKey, models, free: isFree, prices }: AnnouncedServer) {
  return {
    ...{ name, baseUrl, apiKey: apiKey ?? undefined, isFree },
    models: models.map((model) => {
      const price = prices[model]
      const { input_per_million: input = 0, output_per_million: output = 0 } = price ?? {}
      return { name: model, ...(price && { prices: [{ above_input_tokens: 0, input, output }] }) }
    }),
  }
}

/**
 * Returns the policy for new accounts. A supervised service belongs to one user: other users of this computer can reach
 * its port, and their accounts would run under this user.
 */
function toNewWallets({ auth }: Config, supervised: boolean): NewWallets {
  if (auth.new_accounts === null) return supervised ? 'ask' : 'welcome'
  return auth.new_accounts ? 'welcome' : 'refused'
}

/**
 * Returns the path of the Unix socket. Undefined on Windows, where any process may claim a pipe name; clients use the
 * port there.
 */
function getSocketPath(dataFolder: string): string | undefined {
  return process.platform === 'win32' ? undefined : toSocketPath(join(dataFolder, 'service', 'service.sock'))
}

type Listen = { dataFolder: string; address: ListenAddress; again: boolean; log: Log }

/**
 * Listens on the previous address, or on another one if a different program has taken it. The application finds the new
 * address, so the other program cannot block the window.
 */
async function listenOnPreviousAddress(
  { dataFolder, address, again, log }: Listen,
  start: (address: ListenAddress) => Promise<RunningService>,
): Promise<RunningService> {
  try {
    return await listenOnRemembered(dataFolder, 'service', address, start)
  } catch (error) {
    if (!again || !(error instanceof AppError && error.code === 'listen/failed')) throw error
    log.warn('previous port in use, selected another', { error })
    const host = isLoopback(address.host) ? address.host : '127.0.0.1'
    return listenOnRemembered(dataFolder, 'service', { host, port: 0 }, start)
  }
}

function listenAddress(parsed: ParsedCommand, config: Config): ListenAddress {
  const text = parsed.value('listen') ?? config.service.listen
  const address = parseListen(text)
  if (!address) throw createWrongListenError(text)
  return address
}

function toDnsAddress({ domains: { dns_listen: text } }: Config, supervised: boolean): ListenAddress | undefined {
  if (text === null) return supervised ? { host: '127.0.0.1', port: 0 } : undefined
  const address = parseListen(text)
  if (!address) throw createWrongListenError(text)
  return address
}

function toRateLimits({ service: { rate_limits: limits } }: Config) {
  return {
    perKey: limits.per_key,
    perAddress: limits.per_address,
    signInsPerAddress: limits.sign_ins_per_address,
    newAutomatonsPerDay: limits.new_automatons_per_day,
    noncesPerDay: limits.nonces_per_day,
    newAccountsPerDay: limits.new_accounts_per_day,
  }
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw createUnreadableError(file, cause)
  }
}

function createUnreadableError(file: string, cause: unknown): AppError {
  return new AppError('config/invalid', `Cannot read ${file}, a file in \`service.tls\`.`, { cause })
}

type ReadyService = Pick<RunningService, 'url' | 'ownerKeyFile'> & { socket: string | undefined }

function formatReadyText(json: boolean, { url, ownerKeyFile, socket }: ReadyService): string {
  if (json) return `${JSON.stringify({ event: 'ready', url, owner_key_file: ownerKeyFile, socket })}\n`
  return `The Steward service is ready at ${url}\nThe owner's API key is in ${ownerKeyFile}\nPress Ctrl-C to stop it.\n`
}

function warn(sentence: string): void {
  process.stderr.write(`steward: ${sentence}\n`)
}

/** Loads the driver of PostgreSQL only for this command. */
async function runDatabaseCommand(parsed: ParsedCommand): Promise<void> {
  const command = await import('#commands/databaseCommand.ts')
  await command.runDatabaseCommand(parsed)
}

async function runProgram(): Promise<number> {
  // The process that reads stdout may exit first. EPIPE must not prevent an orderly shutdown.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  try {
    const parsed = parseCommandLine(serviceLine, process.argv.slice(2))
    if (parsed.has('help')) process.stdout.write(formatHelp(serviceLine))
    else if (parsed.has('version')) process.stdout.write(`${version}\n`)
    else if (parsed.command === 'database') await runDatabaseCommand(parsed)
    else await run(parsed)
    return 0
  } catch (error) {
    process.stderr.write(formatCommandError(error))
    return toExitCode(error)
  }
}

process.exit(await runProgram())
