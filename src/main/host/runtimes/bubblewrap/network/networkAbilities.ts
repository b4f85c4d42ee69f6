import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import type { Network } from '../../../../../shared/contract/sandboxes.ts'
import { findExecutable } from '../hostTools.ts'
import { networkRules } from './networkRules.ts'

export type NetworkTools = { pasta: string; nft: string; nsenter: string }

export type NetworkAbilities = {
  /** Undefined when sandboxes cannot be connected here; `detail` tells why. */
  tools: NetworkTools | undefined
  networks: Network[]
  detail: string | null
}

const packages = { pasta: 'passt', nft: 'nftables', nsenter: 'util-linux', unshare: 'util-linux' }
const tunnel = '/dev/net/tun'
const probeMs = 10_000
const unprivileged = 65_534

/** Finds out by trying. Never rejects. */
export async function probeNetwork(): Promise<NetworkAbilities> {
  const unable = (detail: string): NetworkAbilities => ({ tools: undefined, networks: ['none'], detail })
  if (process.platform !== 'linux') return unable('Networks of bubblewrap sandboxes need Linux.')
  const [pasta, nft, nsenter, unshare] = await Promise.all(
    (['pasta', 'nft', 'nsenter', 'unshare'] as const).map((name) => findExecutable(name)),
  )
  if (!pasta || !nft || !nsenter || !unshare) {
    const missing = Object.entries({ pasta, nft, nsenter, unshare }).filter(([, path]) => !path)
    const names = missing.map(([name]) => name).join(', ')
    const wanted = [...new Set(missing.map(([name]) => packages[name as keyof typeof packages]))].join(' ') // its own keys
    return unable(
      `No network but their own loopback: missing ${names}. On Debian and Ubuntu: apt-get install ${wanted}`,
    )
  }
  const usable = await access(tunnel, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!usable) return unable(`No network but their own loopback: ${tunnel} is not there, or may not be used.`)
  const refusal = await tryRules({ unshare, nft })
  if (refusal !== undefined) return unable(`No network but their own loopback: nft cannot set rules (${refusal}).`)
  return { tools: { pasta, nft, nsenter }, networks: ['none', 'internet', 'open'], detail: null }
}

/** @returns what nft says when it may not filter in a namespace of an unprivileged user */
function tryRules({ unshare, nft }: { unshare: string; nft: string }): Promise<string | undefined> {
  const rules = networkRules('internet', [])
  const nobody = process.getuid?.() === 0 ? { uid: unprivileged, gid: unprivileged } : {}
  return new Promise((resolve) => {
    const child = spawn(unshare, ['--map-root-user', '--net', '--', nft, '-f', '-'], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'pipe'],
      timeout: probeMs,
      ...nobody,
    })
    let said = ''
    child.stderr.on('data', (bytes: Buffer) => {
      said += bytes.toString('utf8')
    })
    child.once('error', (failure) => resolve(failure.message))
    child.once('close', (code) => resolve(code === 0 ? undefined : (said.trim().split('\n')[0] ?? `code ${code}`)))
    child.stdin.on('error', () => {}) // it ended before it read its rules: its end tells why
    child.stdin.end(rules)
  })
}
