import { spawn } from 'node:child_process'
import { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import type { Network } from '#shared/contract/sandboxes.ts'
import { buildPerlScript, formatPerlArgument } from '../../perlScript.ts'
import type { SandboxUser } from '../startRequest.ts'
import { createNetworkRules, networkCard, sandboxAddresses } from './networkRules.ts'

/** Programs that connect a sandbox, by absolute path, and the way in which `pasta` receives its namespaces. */
export type NetworkTools = {
  perl: string
  pasta: string
  nft: string
  way: PastaNamespaceMode
  /** Whether this kernel can filter raw Ethernet frames. */
  hasFrameRules: boolean
}

/**
 * `files`: pasta opens inherited namespace files. `process`: pasta inspects a helper process that has joined the
 * namespaces. Which of them a version of pasta and its AppArmor profile allow is determined by trying.
 */
export type PastaNamespaceMode = 'files' | 'process'

/** Arguments of `connect_network` in `network.pl`, built by the process that holds the namespace. */
export type ConnectArguments = Readonly<Record<string, unknown>>

type ConnectRequest = {
  tools: NetworkTools
  network: Exclude<Network, 'none'>
  /** Uid of the sandbox's root, for a process that has joined its user namespace. */
  uid: number | undefined
  /** Networks that are unreachable with `internet`, such as `10.0.0.0/8`. */
  closed: readonly string[]
}

type TryRequest = {
  tools: NetworkTools
  closed: readonly string[]
  user: SandboxUser | undefined
  signal: AbortSignal
}

const connectSeconds = 10
const detailBytes = 2_000
const Refusal = z.object({ reason: z.string() })

/**
 * Builds the arguments that add a network card to a sandbox. `pasta` forwards its traffic as a separate, unprivileged
 * user. Loads the rules before adding the card. The loopback of the host is not mapped in either direction, and no port
 * of the sandbox is opened on the host.
 * @see https://passt.top/builds/latest/web/passt.1.html
 */
export function buildNetworkArguments({ tools, network, uid, closed }: ConnectRequest): ConnectArguments {
  const { pasta, nft, way, hasFrameRules } = tools
  const { rules, frameRules, ownRules } = createNetworkRules(network, closed)
  return {
    uid: uid ?? null,
    nft,
    rules,
    frame_rules: hasFrameRules ? frameRules : null,
    own_rules: ownRules && { rules: ownRules.rules, frames: hasFrameRules ? ownRules.frames : null },
    pasta,
    pasta_arguments: pastaArguments,
    way,
    seconds: connectSeconds,
  }
}

const pastaArguments = [
  ...['--foreground', '--quiet', '--config-net', '--ipv4-only', '--no-netns-quit'],
  ...['--tcp-ports', 'none', '--udp-ports', 'none', '--tcp-ns', 'none', '--udp-ns', 'none', '--no-map-gw'],
  ...['--address', sandboxAddresses.sandbox, '--netmask', sandboxAddresses.mask, '--gateway', sandboxAddresses.gateway],
  ...['--dns-forward', sandboxAddresses.names],
  ...['--ns-ifname', networkCard, '--no-dhcp', '--no-dhcpv6', '--no-ndp', '--no-ra'],
]

/**
 * Connects a temporary namespace in the same way as a sandbox of this user.
 * @returns the reason if the connection fails
 */
export async function tryToConnect({ tools, user, closed, signal }: TryRequest): Promise<string | undefined> {
  if (signal.aborted) return 'the connection was cancelled'
  const argument = formatPerlArgument({
    ...buildNetworkArguments({ tools, network: 'internet', uid: user?.uid, closed }),
    users: user?.holder ?? null,
    net: null,
    new: true,
  })
  const { stdin, stdout, stderr, ended } = startHelper(tools.perl, argument)
  let complaint = ''
  stderr.on('data', (bytes: Buffer) => {
    if (complaint.length < detailBytes) complaint += bytes.toString('utf8')
  })
  stdin.on('error', () => {}) // already exited, `close` reports it
  // Closing stdin makes the helper end pasta and exit.
  const end = (): void => void stdin.destroy()
  signal.addEventListener('abort', end, { once: true })
  const line = await readFirstLine(stdout)
  signal.removeEventListener('abort', end)
  end()
  await ended
  if (line === 'connected') return undefined
  return findReason(line) ?? (complaint.trim() || 'the network helper exited')
}

function startHelper(perl: string, argument: string) {
  const child = spawn(perl, ['-e', buildPerlScript('range', 'network', 'networkMain'), argument], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, ended }
}

/** Returns an empty string if the process ends before it prints a line. */
function readFirstLine(output: NodeJS.ReadableStream): Promise<string> {
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

function findReason(line: string): string | undefined {
  try {
    return Refusal.parse(parseJson(line)).reason
  } catch {
    return undefined // no or incomplete output
  }
}
