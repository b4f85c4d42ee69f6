import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, type Environment, loadConfig } from '#config/config.ts'
import { toDockerOptions } from '#config/dockerConfig.ts'
import type { StartOptions } from '#config/startOptions.ts'
import { createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { createDockerRuntime } from '#host/runtimes/docker/dockerRuntime.ts'
import { openDataFolder } from '#platform/files/dataFolder.ts'
import { findLockHolder, type LockHolder } from '#platform/files/dataLock.ts'
import { connectIpc } from '#platform/ipc/ipcClient.ts'
import { silentLog } from '#platform/logging/log.ts'
import { getHostSocketPath } from '#platform/net/hostSocket.ts'
import { isLoopback, parseListen } from '#platform/net/listenAddress.ts'
import { canListen } from '#platform/net/loopbackListening.ts'
import { version } from '#platform/program/version.ts'
import { createKeychainSecretStore } from '#platform/secrets/keychainSecretStore.ts'
import { backendNames, type SecretStore } from '#platform/secrets/secretStore.ts'
import { createSecretStoreLocator } from '#platform/secrets/secretStoreLocator.ts'
import { verifySecretStore } from '#platform/secrets/verifySecretStore.ts'
import type { AppError } from '#shared/appError.ts'
import { hostMethods } from '#shared/contract/hostIpc.ts'
import type { Enforced, RuntimeReport } from '#shared/contract/sandboxes.ts'

/** `limited`: works with restrictions. `notes` give the reason and the command that fixes it. */
export type Finding = {
  name: string
  state: 'good' | 'limited' | 'missing'
  says: string
  notes?: { says: string; command: string | null }[]
}

type Options = Pick<StartOptions, 'dataFolder' | 'config' | 'json'>

type WalletCheckOptions = { dataFolder: string; config: Config; keychain: SecretStore; fault: AppError | undefined }

const answerMs = 20_000
/** Includes time for the user to answer the keychain dialog. */
const keychainMs = 20_000

/**
 * Prints a report of what works on this computer, based on probes.
 * @param window why Electron cannot open a window; undefined if it can
 * @returns the exit code of the program: 1 if no sandbox can run
 */
export async function runDoctor(
  options: Options,
  environment: Environment,
  window: string | undefined,
): Promise<number> {
  const onWarning = (warning: string) => void process.stderr.write(`${warning}\n`)
  const config = loadConfig({ ...options.config, environment, onWarning })
  const runtimes = await listReports(options.dataFolder, config)
  const holder = await findLockHolder(options.dataFolder, 'steward.lock')
  const keychain = createKeychainSecretStore({
    scopeName: 'doctor',
    platform: process.platform,
    deadlineMs: keychainMs,
  })
  const fault = await verifySecretStore(keychain)
  const findings: Finding[] = [
    {
      name: 'Steward',
      state: 'good',
      says: `${version} on Node ${process.versions.node}, ${process.platform} ${process.arch}.`,
    },
    checkWindow(window),
    ...runtimes.map(checkRuntime),
    ...runtimes.filter((it) => it.available).map(checkSandboxNetwork),
    checkKeychain(keychain.kind, fault),
    await checkWallet({ dataFolder: options.dataFolder, config, keychain, fault }),
    ...(await checkNetworks(config, holder)),
    await checkData(options.dataFolder, holder),
  ]
  if (options.json) process.stdout.write(`${JSON.stringify({ event: 'doctor', findings })}\n`)
  else process.stdout.write(findings.map(toPlainLine).join(''))
  return runtimes.some((it) => it.available) ? 0 : 1
}

/** Reads the reports of the running host. If no host is running, probes each runtime in a temporary folder. */
async function listReports(dataFolder: string, config: Config): Promise<RuntimeReport[]> {
  const running = await listRunningReports(dataFolder)
  if (running) return running
  const folder = await mkdtemp(join(tmpdir(), 'steward-doctor-'))
  const runtimes = config.sandboxes.runtimes.map((name) =>
    name === 'docker'
      ? createDockerRuntime({ folder, docker: toDockerOptions(config), log: silentLog, now: Date.now })
      : createBubblewrapRuntime({ folder, cpuWeight: config.sandboxes.cpu_weight, log: silentLog, now: Date.now }),
  )
  try {
    return await Promise.all(runtimes.map((it) => it.describe()))
  } finally {
    for (const runtime of runtimes) await runtime.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function listRunningReports(dataFolder: string): Promise<RuntimeReport[] | undefined> {
  const signal = AbortSignal.timeout(answerMs)
  const host = await connectIpc({ path: getHostSocketPath(dataFolder), onEvent: () => {}, signal }).catch(
    () => undefined,
  )
  if (!host) return undefined
  try {
    const { result } = await host.call('describe', {}, { signal })
    return hostMethods.describe.result.parse(result).runtimes
  } catch {
    return undefined // the host hangs or has another version, so probe instead
  } finally {
    host.close()
  }
}

function checkWindow(why: string | undefined): Finding {
  if (why === undefined) return { name: 'Window', state: 'good', says: 'Electron can open a window.' }
  return { name: 'Window', state: 'limited', says: `${toSentence(why)} Steward opens in the browser instead.` }
}

function checkRuntime({ name, available, detail, cure, enforced, limit_gaps: gaps }: RuntimeReport): Finding {
  const title = `Sandboxes (${name})`
  if (!available) return { name: title, state: 'missing', says: toSentence(detail), notes: createCommandHint(cure) }
  const kinds = { memory: 'memory', cpu: 'processor', disk: 'disk', processes: 'process count' } as const
  const listLimits = (isEnforced: boolean) =>
    (Object.keys(kinds) as (keyof Enforced)[])
      .filter((kind) => enforced[kind] === isEnforced)
      .map((kind) => kinds[kind]) // keys of this record
  const loose = listLimits(false)
  const limitsText =
    listLimits(true).length === 0 ? 'No limit is enforced.' : `Enforced limits: ${listLimits(true).join(', ')}.`
  const says = `${toSentence(detail)} ${limitsText}${loose.length === 0 ? '' : ` Not enforced: ${loose.join(', ')}.`}`
  const reportedGaps = gaps.filter(({ reason, cure: command }) => command !== null || !detail.includes(reason))
  const notes = reportedGaps.map(({ reason, cure: command }) => ({ says: toSentence(reason), command }))
  return { name: title, state: loose.length === 0 ? 'good' : 'limited', says, notes }
}

function checkSandboxNetwork(report: RuntimeReport): Finding {
  const { name, networks, network_detail: detail, network_cure: cure } = report
  const title = `Sandbox networks (${name})`
  const offered = networks.filter((network) => network !== 'none')
  const works = offered.length === 0 ? 'None.' : `Available: ${offered.join(', ')}.`
  if (detail === null) return { name: title, state: 'good', says: works }
  return { name: title, state: 'limited', says: `${works} ${toSentence(detail)}`, notes: createCommandHint(cure) }
}

function createCommandHint(command: string | null): NonNullable<Finding['notes']> {
  return command === null ? [] : [{ says: 'To fix this:', command }]
}

function checkKeychain(kind: SecretStore['kind'], fault: AppError | undefined): Finding {
  if (fault) return { name: 'Keychain', state: 'limited', says: fault.message }
  return { name: 'Keychain', state: 'good', says: `The keychain stores secrets: ${backendNames[kind]}.` }
}

/** Accepts a vault file like a keychain, because secrets in either are sealed with the passphrase. */
async function checkWallet({ dataFolder, config, keychain, fault }: WalletCheckOptions): Promise<Finding> {
  // New wallets use the vault file if there is no keychain. If the keychain is only locked, wallet creation waits for
  // it.
  const unavailable = fault?.code === 'wallet/keychain-unavailable' ? fault.message : undefined
  const tried: SecretStore = { ...keychain, fault: async () => unavailable }
  try {
    const folder = join(dataFolder, 'wallet')
    const setting = config.wallet.secret_store
    const locator = createSecretStoreLocator({ folder, setting, keychain: () => tried })
    const { kind, name, detail } = await locator.backend()
    if (kind !== 'vault_file' && fault) return { name: 'Wallet', state: 'limited', says: `${name}. ${fault.message}` }
    return { name: 'Wallet', state: 'good', says: `${name}. ${detail}` }
  } catch (error) {
    return { name: 'Wallet', state: 'missing', says: error instanceof Error ? error.message : String(error) }
  }
}

async function checkNetworks({ app, service }: Config, holder: LockHolder | undefined): Promise<Finding[]> {
  const probes = [
    ['Interface', app.listen],
    ['Service', service.listen],
  ] as const
  return Promise.all(
    probes.map(async ([subject, text]): Promise<Finding> => {
      const address = parseListen(text)
      const name = `Network (${subject.toLowerCase()})`
      if (!address) return { name, state: 'missing', says: `${text} is not a valid address.` }
      if (!(await canListen(address))) {
        if (holder) return { name, state: 'good', says: `${text} is in use, by Steward or by another program.` }
        return { name, state: 'missing', says: `Steward cannot listen on ${text}. Another program may be using it.` }
      }
      const reach = isLoopback(address.host) ? 'only this computer can connect' : 'other computers can connect'
      return { name, state: 'good', says: `Steward can listen on ${text}; ${reach}.` }
    }),
  )
}

async function checkData(dataFolder: string, holder: LockHolder | undefined): Promise<Finding> {
  try {
    await openDataFolder(dataFolder)
  } catch (error) {
    return { name: 'Data', state: 'missing', says: error instanceof Error ? error.message : String(error) }
  }
  const user = holder ? `; in use by ${holder.program} (process ${holder.pid})` : ''
  return { name: 'Data', state: 'good', says: `${dataFolder} is writable${user}.` }
}

function toPlainLine({ name, state, says, notes = [] }: Finding): string {
  const marks = { good: 'works  ', limited: 'limited', missing: 'missing' } as const
  const indent = ' '.repeat(marks[state].length + 2)
  const below = notes.flatMap(({ says: why, command }) => [why, ...(command === null ? [] : [`    ${command}`])])
  return [`${marks[state]}  ${name}: ${says}`, ...below.map((line) => indent + line)]
    .map((line) => `${line}\n`)
    .join('')
}

function toSentence(text: string): string {
  const trimmed = text.trim().replace(/\.$/, '')
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}.`
}
