import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import type { Network } from '#shared/contract/sandboxes.ts'
import { findExecutable } from '../hostTools.ts'
import type { SandboxUser } from '../startRequest.ts'
import { type NetworkTools, type PastaNamespaceMode, tryToConnect } from './connectNetwork.ts'

export type NetworkSupport = {
  /** Absent if sandboxes cannot be connected on this computer. `detail` contains the reason. */
  tools: NetworkTools | undefined
  networks: Network[]
  detail: string | null
  /** Fix command, if there is one. */
  cure: string | null
}

const packages = { perl: 'perl-base', pasta: 'passt', nft: 'nftables' }
const namespaceModes: readonly PastaNamespaceMode[] = ['files', 'process']
const tunnel = '/dev/net/tun'
const probeMs = 30_000
const unprivileged = 65_534

const noFrameRules =
  'This kernel cannot filter raw Ethernet frames from sandboxes (Linux 5.16 can). The system call filter and the missing right to raw sockets still block them.'

/**
 * Probes network support by connecting a temporary namespace as the same kind of user as sandboxes. Never rejects.
 * @param closed networks that are unreachable with `internet`, such as `10.0.0.0/8`
 * @param user user within the user namespace of sandboxes, if they have separate ids
 */
export async function probeNetwork(closed: readonly string[], user?: SandboxUser): Promise<NetworkSupport> {
  const unable = (reason: string, cure: string | null = null): NetworkSupport => ({
    tools: undefined,
    networks: ['none'],
    detail: `Sandboxes have no network: ${reason}.`,
    cure,
  })
  if (process.platform !== 'linux') return unable('networks of bubblewrap sandboxes require Linux')
  const [perl, pasta, nft] = await Promise.all(['perl', 'pasta', 'nft'].map((name) => findExecutable(name)))
  if (!perl || !pasta || !nft) {
    const missing = Object.entries({ perl, pasta, nft }).filter(([, path]) => !path)
    const names = missing.map(([name]) => name).join(', ')
    // keys of `packages`
    const packageNames = missing.map(([name]) => packages[name as keyof typeof packages]).join(' ')
    return unable(
      `missing ${names}. On Debian and Ubuntu: apt-get install ${packageNames}`,
      `sudo apt-get install ${packageNames}`,
    )
  }
  const refusals: string[] = []
  for (const way of namespaceModes) {
    const tools = { perl, pasta, nft, way, hasFrameRules: true }
    const toAbilities = (tools: NetworkTools): NetworkSupport => ({
      tools,
      networks: ['none', 'internet', 'open'],
      detail: tools.hasFrameRules ? null : noFrameRules,
      cure: null,
    })
    const refusal = await findRefusal(tools, { closed, user })
    if (refusal === undefined) return toAbilities(tools)
    const withoutFrameRules = { ...tools, hasFrameRules: false }
    if (isAboutFrames(refusal) && (await findRefusal(withoutFrameRules, { closed, user })) === undefined)
      return toAbilities(withoutFrameRules)
    refusals.push(refusal)
    if (!isNamespaceModeError(refusal)) break
  }
  const refusal = refusals.find((it) => !isNamespaceModeError(it)) ?? refusals[0] ?? ''
  const { because, cure } = findNetworkRefusal(refusal, { tunnelExists: await fileExists(tunnel) })
  return unable(because === undefined ? refusal : `${because} (${refusal})`, cure)
}

async function fileExists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  )
}

async function findRefusal(
  tools: NetworkTools,
  { closed, user }: { closed: readonly string[]; user: SandboxUser | undefined },
): Promise<string | undefined> {
  const ofRoot = process.getuid?.() === 0 ? { uid: unprivileged, holder: undefined } : undefined
  try {
    return await tryToConnect({ tools, user: user ?? ofRoot, closed, signal: AbortSignal.timeout(probeMs) })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Whether pasta failed because it, or its AppArmor profile, rejects this way of passing the namespaces. */
function isNamespaceModeError(refusal: string): boolean {
  return /Couldn't open (user|network) namespace/.test(refusal)
}

function isAboutFrames(refusal: string): boolean {
  return refusal.startsWith('its frame rules could not be set')
}

/** Explains known errors of pasta, nft and the kernel, with the fix command. */
export function findNetworkRefusal(
  refusal: string,
  { tunnelExists }: { tunnelExists: boolean },
): { because: string | undefined; cure: string | null } {
  if (isNamespaceModeError(refusal))
    return { because: 'AppArmor may block it', cure: 'sudo journalctl --dmesg --grep apparmor.*pas' }
  if (/user namespace/.test(refusal)) return { because: 'user namespaces are blocked', cure: null }
  if (/rules could not be set/.test(refusal))
    return { because: 'the nf_tables kernel module is not loaded', cure: 'sudo modprobe nf_tables' }
  if (/tun socket|\/dev\/net\/tun|TUNSETIFF/i.test(refusal))
    return tunnelExists
      ? { because: 'this user cannot open /dev/net/tun', cure: `sudo chmod 666 ${tunnel} && ${keepTunnelOpen}` }
      : {
          because: '/dev/net/tun does not exist',
          cure: 'sudo modprobe tun && echo tun | sudo tee /etc/modules-load.d/tun.conf',
        }
  if (/routable interface|external interface|default route|no route/i.test(refusal))
    return { because: 'this computer has no IPv4 network', cure: null }
  return { because: undefined, cure: null }
}

const tunnelRule = 'KERNEL=="tun", MODE="0666", OPTIONS+="static_node=net/tun"'
const keepTunnelOpen = `echo '${tunnelRule}' | sudo tee /etc/udev/rules.d/90-steward-tun.rules`
