import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { secretPlaces } from '#agent/wallet/secretPlaces.ts'
import { type Config, type Environment, loadConfig } from '#config/config.ts'
import { dockerConfig } from '#config/dockerConfig.ts'
import type { StartOptions } from '#config/startOptions.ts'
import { bubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { dockerRuntime } from '#host/runtimes/docker/dockerRuntime.ts'
import { openDataFolder } from '#platform/dataFolder.ts'
import { type LockHolder, lockHolder } from '#platform/dataLock.ts'
import { hostSocketPath } from '#platform/hostSocket.ts'
import { connectIpc } from '#platform/ipc/ipcClient.ts'
import { keychainSecretStore } from '#platform/keychainSecretStore.ts'
import { isLoopback, parseListen } from '#platform/listenAddress.ts'
import { silentLog } from '#platform/log.ts'
import { canListen } from '#platform/loopbackListening.ts'
import { backendNames, type SecretStore } from '#platform/secretStore.ts'
import { tryKeychain } from '#platform/tryKeychain.ts'
import { version } from '#platform/version.ts'
import type { AppError } from '#shared/appError.ts'
import { hostMethods } from '#shared/contract/hostIpc.ts'
import type { Enforced, RuntimeReport } from '#shared/contract/sandboxes.ts'

/** `limited`: it works, less well than it could; `notes` say why, with the command that changes it. */
export type Finding = {
  name: string
  state: 'good' | 'limited' | 'missing'
  says: string
  notes?: { says: string; command: string | null }[]
}

type Options = Pick<StartOptions, 'dataFolder' | 'config' | 'json'>

type WalletQuestion = { dataFolder: string; config: Config; keychain: SecretStore; fault: AppError | undefined }

const answerMs = 20_000
/** A person may have to answer its dialog. */
const keychainMs = 20_000

/**
 * Says in plain words what this machine can do, found by trying.
 * @param window why Electron shows no window here; undefined when it does
 * @returns the exit code of the program: 1 when no sandbox can run
 */
export async function runDoctor(options: Options, given: Environment, window: string | undefined): Promise<number> {
  const config = loadConfig({ ...options.config, environment: given })
  const runtimes = await reports(options.dataFolder, config)
  const holder = await lockHolder(options.dataFolder, 'steward.lock')
  const keychain = keychainSecretStore({ scopeName: 'doctor', platform: process.platform, deadlineMs: keychainMs })
  const fault = await tryKeychain(keychain)
  const findings: Finding[] = [
    {
      name: 'Steward',
      state: 'good',
      says: `${version} on Node ${process.versions.node}, ${process.platform} ${process.arch}.`,
    },
    windowFinding(window),
    ...runtimes.map(runtimeFinding),
    ...runtimes.filter((it) => it.available).map(sandboxNetworkFinding),
    keychainFinding(keychain.kind, fault),
    await walletFinding({ dataFolder: options.dataFolder, config, keychain, fault }),
    ...(await networkFindings(config, holder)),
    await dataFinding(options.dataFolder, holder),
  ]
  if (options.json) process.stdout.write(`${JSON.stringify({ event: 'doctor', findings })}\n`)
  else process.stdout.write(findings.map(plainLine).join(''))
  return runtimes.some((it) => it.available) ? 0 : 1
}

/** Of the host that runs, which knows best; else tried in a folder of its own, which is removed. */
async function reports(dataFolder: string, config: Config): Promise<RuntimeReport[]> {
  const running = await runningReports(dataFolder)
  if (running) return running
  const folder = await mkdtemp(join(tmpdir(), 'steward-doctor-'))
  const runtimes = config.sandboxes.runtimes.map((name) =>
    name === 'docker'
      ? dockerRuntime({ folder, docker: dockerConfig(config), log: silentLog, now: Date.now })
      : bubblewrapRuntime({ folder, cpuWeight: config.sandboxes.cpu_weight, log: silentLog, now: Date.now }),
  )
  try {
    return await Promise.all(runtimes.map((it) => it.describe()))
  } finally {
    for (const runtime of runtimes) await runtime.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function runningReports(dataFolder: string): Promise<RuntimeReport[] | undefined> {
  const signal = AbortSignal.timeout(answerMs)
  const host = await connectIpc({ path: hostSocketPath(dataFolder), onEvent: () => {}, signal }).catch(() => undefined)
  if (!host) return undefined
  try {
    const { result } = await host.call('describe', {}, { signal })
    return hostMethods.describe.result.parse(result).runtimes
  } catch {
    return undefined // it hangs or is of another version: trying tells
  } finally {
    host.close()
  }
}

function windowFinding(why: string | undefined): Finding {
  if (why === undefined) return { name: 'Window', state: 'good', says: 'Electron can open a window.' }
  return { name: 'Window', state: 'limited', says: `${sentence(why)} Steward opens in the browser instead.` }
}

function runtimeFinding({ name, available, detail, cure, enforced, limit_gaps: gaps }: RuntimeReport): Finding {
  const title = `Sandboxes (${name})`
  if (!available) return { name: title, state: 'missing', says: sentence(detail), notes: commandNote(cure) }
  const kinds = { memory: 'memory', cpu: 'processor', disk: 'disk', processes: 'process count' } as const
  const named = (held: boolean) =>
    (Object.keys(kinds) as (keyof Enforced)[]).filter((kind) => enforced[kind] === held).map((kind) => kinds[kind]) // its own keys
  const loose = named(false)
  const held = named(true).length === 0 ? 'No limit is enforced.' : `Enforced limits: ${named(true).join(', ')}.`
  const says = `${sentence(detail)} ${held}${loose.length === 0 ? '' : ` Not enforced: ${loose.join(', ')}.`}`
  const told = gaps.filter(({ reason, cure: command }) => command !== null || !detail.includes(reason))
  const notes = told.map(({ reason, cure: command }) => ({ says: sentence(reason), command }))
  return { name: title, state: loose.length === 0 ? 'good' : 'limited', says, notes }
}

function sandboxNetworkFinding(report: RuntimeReport): Finding {
  const { name, networks, network_detail: detail, network_cure: cure } = report
  const title = `Sandbox networks (${name})`
  const offered = networks.filter((network) => network !== 'none')
  const works = offered.length === 0 ? 'None.' : `Available: ${offered.join(', ')}.`
  if (detail === null) return { name: title, state: 'good', says: works }
  return { name: title, state: 'limited', says: `${works} ${sentence(detail)}`, notes: commandNote(cure) }
}

function commandNote(command: string | null): NonNullable<Finding['notes']> {
  return command === null ? [] : [{ says: 'To change that:', command }]
}

function keychainFinding(kind: SecretStore['kind'], fault: AppError | undefined): Finding {
  if (fault) return { name: 'Keychain', state: 'limited', says: fault.message }
  return { name: 'Keychain', state: 'good', says: `It keeps what is written to it: ${backendNames[kind]}.` }
}

/** A vault file is as good as a keychain: what is in either is sealed by the passphrase. */
async function walletFinding({ dataFolder, config, keychain, fault }: WalletQuestion): Promise<Finding> {
  // A new wallet goes into the vault file where there is no keychain, but waits for one that is merely locked.
  const unavailable = fault?.code === 'wallet/keychain-unavailable' ? fault.message : undefined
  const tried: SecretStore = { ...keychain, fault: async () => unavailable }
  try {
    const { kind, name, detail } = await secretPlaces({ dataFolder, config, keychain: () => tried }).backend()
    if (kind !== 'vault_file' && fault) return { name: 'Wallet', state: 'limited', says: `${name}. ${fault.message}` }
    return { name: 'Wallet', state: 'good', says: `${name}. ${detail}` }
  } catch (failure) {
    return { name: 'Wallet', state: 'missing', says: failure instanceof Error ? failure.message : String(failure) }
  }
}

async function networkFindings({ app, service }: Config, holder: LockHolder | undefined): Promise<Finding[]> {
  const asked = [
    ['Interface', app.listen],
    ['Service', service.listen],
  ] as const
  return Promise.all(
    asked.map(async ([what, text]): Promise<Finding> => {
      const address = parseListen(text)
      const name = `Network (${what.toLowerCase()})`
      if (!address) return { name, state: 'missing', says: `${text} is no address.` }
      if (!(await canListen(address))) {
        if (holder)
          return { name, state: 'good', says: `${text} is taken, by the Steward that runs or another program.` }
        return { name, state: 'missing', says: `It cannot listen on ${text}: another program may do so already.` }
      }
      const reach = isLoopback(address.host) ? 'only this machine reaches it' : 'other machines reach it'
      return { name, state: 'good', says: `It can listen on ${text}; ${reach}.` }
    }),
  )
}

async function dataFinding(dataFolder: string, holder: LockHolder | undefined): Promise<Finding> {
  try {
    await openDataFolder(dataFolder)
  } catch (failure) {
    return { name: 'Data', state: 'missing', says: failure instanceof Error ? failure.message : String(failure) }
  }
  const user = holder ? `; ${holder.program} (process ${holder.pid}) uses it now` : ''
  return { name: 'Data', state: 'good', says: `${dataFolder} can be written${user}.` }
}

function plainLine({ name, state, says, notes = [] }: Finding): string {
  const marks = { good: 'works  ', limited: 'limited', missing: 'missing' } as const
  const indent = ' '.repeat(marks[state].length + 2)
  const below = notes.flatMap(({ says: why, command }) => [why, ...(command === null ? [] : [`    ${command}`])])
  return [`${marks[state]}  ${name}: ${says}`, ...below.map((line) => indent + line)]
    .map((line) => `${line}\n`)
    .join('')
}

function sentence(text: string): string {
  const trimmed = text.trim().replace(/\.$/, '')
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}.`
}
