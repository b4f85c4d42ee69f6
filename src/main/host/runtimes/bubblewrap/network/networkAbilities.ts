import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import type { Network } from '../../../../../shared/contract/sandboxes.ts'
import { findExecutable } from '../hostTools.ts'
import { type NetworkTools, type PastaWay, tryToConnect } from './connectNetwork.ts'

export type NetworkAbilities = {
  /** Undefined when sandboxes cannot be connected here; `detail` tells why. */
  tools: NetworkTools | undefined
  networks: Network[]
  detail: string | null
}

const packages = { perl: 'perl-base', pasta: 'passt', nft: 'nftables' }
const ways: readonly PastaWay[] = ['files', 'process']
const tunnel = '/dev/net/tun'
const probeMs = 30_000
const unprivileged = 65_534

/** Finds out by connecting a throwaway namespace, as the kind of user that sandboxes are. Never rejects. */
export async function probeNetwork(): Promise<NetworkAbilities> {
  const unable = (detail: string): NetworkAbilities => ({
    tools: undefined,
    networks: ['none'],
    detail: `Sandboxes have no network here: ${detail}`,
  })
  if (process.platform !== 'linux') return unable('networks of bubblewrap sandboxes need Linux.')
  const [perl, pasta, nft] = await Promise.all(['perl', 'pasta', 'nft'].map((name) => findExecutable(name)))
  if (!perl || !pasta || !nft) {
    const missing = Object.entries({ perl, pasta, nft }).filter(([, path]) => !path)
    const names = missing.map(([name]) => name).join(', ')
    const wanted = missing.map(([name]) => packages[name as keyof typeof packages]).join(' ') // its own keys
    return unable(`missing ${names}. On Debian and Ubuntu: sudo apt-get install ${wanted}`)
  }
  const refusals: string[] = []
  for (const way of ways) {
    const tools = { perl, pasta, nft, way }
    const refusal = await refusalOf(tools)
    if (refusal === undefined) return { tools, networks: ['none', 'internet', 'open'], detail: null }
    refusals.push(refusal)
    if (!isAboutTheWay(refusal)) break
  }
  const refusal = refusals.find((it) => !isAboutTheWay(it)) ?? refusals[0] ?? ''
  return unable(`${refusal}. ${await cureOf(refusal)}`.trim())
}

async function refusalOf(tools: NetworkTools): Promise<string | undefined> {
  const uid = process.getuid?.() === 0 ? unprivileged : undefined
  try {
    return await tryToConnect({ tools, uid, signal: AbortSignal.timeout(probeMs) })
  } catch (failure) {
    return failure instanceof Error ? failure.message : String(failure)
  }
}

/** What pasta says when it was told of the namespaces in a way that it, or its AppArmor profile, does not allow. */
function isAboutTheWay(refusal: string): boolean {
  return /Couldn't open (user|network) namespace/.test(refusal)
}

async function cureOf(refusal: string): Promise<string> {
  if (isAboutTheWay(refusal)) return 'AppArmor may forbid it: look for `pasta` in `sudo journalctl -k -g apparmor`.'
  if (/user namespace/.test(refusal)) return 'Networks need what sandboxes need: see their own line.'
  if (/rules could not be set/.test(refusal)) return 'Load the kernel’s filter: sudo modprobe nf_tables'
  if (/tun|TUNSETIFF/i.test(refusal)) return tunnelCure()
  if (/No external|no default|routable|interface/i.test(refusal))
    return 'Connect this computer to a network; Steward tries again.'
  return ''
}

async function tunnelCure(): Promise<string> {
  const there = await access(tunnel, constants.F_OK).then(
    () => true,
    () => false,
  )
  if (!there) return 'Load the driver: sudo modprobe tun; to keep it: echo tun | sudo tee /etc/modules-load.d/tun.conf'
  const rule = `KERNEL=="tun", MODE="0666", OPTIONS+="static_node=net/tun"`
  return `Allow its use: sudo chmod 666 ${tunnel}; to keep it: echo '${rule}' | sudo tee /etc/udev/rules.d/90-steward-tun.rules`
}
