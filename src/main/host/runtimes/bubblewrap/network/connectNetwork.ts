import { spawn } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import { z } from 'zod'
import { AppError } from '../../../../../shared/appError.ts'
import type { Network } from '../../../../../shared/contract/sandboxes.ts'
import { perlArgument, perlScript } from '../../perlScript.ts'
import { networkRules, ownAddresses, sandboxAddresses } from './networkRules.ts'

/** Programs that connect a sandbox, by their absolute paths, and how `pasta` is told of its namespaces. */
export type NetworkTools = { perl: string; pasta: string; nft: string; way: PastaWay }

/**
 * `files`: pasta opens files of the namespaces that it inherits. `process`: it looks at a process of ours that has
 * joined them. Which of the two a version of pasta and its AppArmor profile allow is found out by trying.
 */
export type PastaWay = 'files' | 'process'

/** A sandbox that is connected, by a process of the host beside it. */
export type MachineNetwork = {
  pid: number
  /** Resolves when that process and pasta have ended, whether asked or not. */
  ended: Promise<void>
  end(): void
}

type ConnectRequest = {
  tools: NetworkTools
  network: Exclude<Network, 'none'>
  /**
   * `net`: path of an open file of the sandbox's network namespace, pinned before anything foreign ran in it, as in
   * `/proc/PID/fd/N` of a process of ours. Its owning user namespace is asked from it.
   */
  namespaces: { net: string }
  /** Whom the machine's root is on the host; undefined: the user that Steward runs as. */
  uid: number | undefined
  signal: AbortSignal
}

type TryRequest = {
  tools: NetworkTools
  uid: number | undefined
  signal: AbortSignal
}

const connectSeconds = 10
const detailBytes = 2_000
const Refusal = z.object({ reason: z.string() })

/**
 * Gives a machine a network card whose traffic `pasta` carries as its own, unprivileged user: first the rules, then the
 * card. Nothing of the host's loopback is mapped either way, and no port of the machine is opened on the host.
 * @throws AppError `network/unavailable`
 * @see https://passt.top/builds/latest/web/passt.1.html
 */
export async function connectNetwork(request: ConnectRequest): Promise<MachineNetwork> {
  const { tools, network, namespaces, uid, signal } = request
  const rules = networkRules(network, ownAddresses(networkInterfaces()))
  const outcome = await connect({ tools, rules, uid, signal, of: { net: namespaces.net, new: false } })
  signal.throwIfAborted()
  if ('network' in outcome) return outcome.network
  throw new AppError('network/unavailable', `The sandbox could not be connected: ${outcome.refused}.`)
}

/** Connects a throwaway namespace as a sandbox of this user is connected. @returns why that fails here */
export async function tryToConnect({ tools, uid, signal }: TryRequest): Promise<string | undefined> {
  const rules = networkRules('internet', ownAddresses(networkInterfaces()))
  const outcome = await connect({ tools, rules, uid, signal, of: { net: null, new: true } })
  if ('refused' in outcome) return outcome.refused
  outcome.network.end()
  await outcome.network.ended
  return undefined
}

/** What `connect_network` is given by whoever has the namespace open. */
export type ConnectArguments = Readonly<Record<string, unknown>>

export function networkArguments(request: {
  tools: NetworkTools
  network: Exclude<Network, 'none'>
  uid: number | undefined
}): ConnectArguments {
  const { tools, network, uid } = request
  const rules = networkRules(network, ownAddresses(networkInterfaces()))
  return givenTo(tools, { rules, uid })
}

function givenTo({ pasta, nft, way }: NetworkTools, { rules, uid }: { rules: string; uid: number | undefined }) {
  return { uid: uid ?? null, nft, rules, pasta, pasta_arguments: pastaArguments, way, seconds: connectSeconds }
}

type Connection = {
  tools: NetworkTools
  rules: string
  uid: number | undefined
  signal: AbortSignal
  of: { net: string; new: false } | { net: null; new: true }
}

async function connect(connection: Connection): Promise<{ network: MachineNetwork } | { refused: string }> {
  const { tools, rules, uid, signal, of } = connection
  if (signal.aborted) return { refused: 'it was called off' }
  const { perl } = tools
  const argument = perlArgument({ ...of, ...givenTo(tools, { rules, uid }) })
  const child = spawn(perl, ['-e', perlScript('network', 'networkMain'), argument], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const { stdin, stdout, stderr, pid } = child
  let complaint = ''
  stderr.on('data', (bytes: Buffer) => {
    if (complaint.length < detailBytes) complaint += bytes.toString('utf8')
  })
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })
  stdin.on('error', () => {}) // it has ended: `close` tells
  // Its stdin is its lifeline, also when this process is killed: it ends pasta and then itself.
  const end = (): void => void stdin.destroy()
  signal.addEventListener('abort', end, { once: true })
  try {
    const line = await firstLine(stdout)
    if (line === 'connected' && pid !== undefined) return { network: { pid, ended, end } }
    end()
    await ended
    return { refused: reasonIn(line) ?? (complaint.trim() || 'its helper ended') }
  } finally {
    signal.removeEventListener('abort', end)
  }
}

const pastaArguments = [
  ...['--foreground', '--quiet', '--config-net', '--ipv4-only', '--no-netns-quit'],
  ...['--tcp-ports', 'none', '--udp-ports', 'none', '--tcp-ns', 'none', '--udp-ns', 'none', '--no-map-gw'],
  ...['--address', sandboxAddresses.own, '--netmask', sandboxAddresses.mask, '--gateway', sandboxAddresses.gateway],
  ...['--dns-forward', sandboxAddresses.names],
  ...['--ns-ifname', 'eth0', '--no-dhcp', '--no-dhcpv6', '--no-ndp', '--no-ra'],
]

/** Empty when it ended before it said one. */
function firstLine(output: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    let said = ''
    output.on('data', (bytes: Buffer) => {
      said += bytes.toString('utf8')
      const end = said.indexOf('\n')
      if (end >= 0) resolve(said.slice(0, end))
    })
    output.once('close', () => resolve(''))
    output.once('error', () => resolve(''))
  })
}

function reasonIn(line: string): string | undefined {
  try {
    return Refusal.parse(JSON.parse(line)).reason
  } catch {
    return undefined // it said nothing, or half of it
  }
}
