import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../../../../shared/appError.ts'
import type { Network } from '../../../../../shared/contract/sandboxes.ts'
import type { NetworkTools } from './networkAbilities.ts'
import { networkRules, ownAddresses, sandboxAddresses } from './networkRules.ts'

/** A sandbox that is connected, by a process of the host beside it. */
export type MachineNetwork = {
  pid: number
  /** Resolves when the process has ended, whether asked or not. */
  ended: Promise<void>
  end(): void
}

type ConnectRequest = {
  tools: NetworkTools
  network: Exclude<Network, 'none'>
  /** PID 1 of the machine, as the host counts. */
  init: number
  /** Whom the machine's root is on the host; undefined: the user that Steward runs as. */
  uid: number | undefined
  signal: AbortSignal
}

const rulesMs = 10_000
const connectMs = 10_000
const detailBytes = 2_000

/**
 * Gives a running machine a network card whose traffic `pasta` carries as its own, unprivileged user: first the rules,
 * then the card. Nothing of the host's loopback is mapped either way, and no port of the machine is opened on the host.
 * @throws AppError `network/unavailable`
 * @see https://passt.top/builds/latest/web/passt.1.html
 */
export async function connectNetwork(request: ConnectRequest): Promise<MachineNetwork> {
  const { tools, network, init, uid, signal } = request
  await setRules(request, networkRules(network, ownAddresses(networkInterfaces())))
  signal.throwIfAborted()
  const { own, mask, gateway, names } = sandboxAddresses
  const child = spawn(
    tools.pasta,
    [
      ...['--foreground', '--quiet', '--stderr', '--config-net', '--ipv4-only'],
      ...['--tcp-ports', 'none', '--udp-ports', 'none', '--tcp-ns', 'none', '--udp-ns', 'none', '--no-map-gw'],
      ...['--address', own, '--netmask', mask, '--gateway', gateway, '--dns-forward', names],
      ...['--ns-ifname', 'eth0', '--no-dhcp', '--no-dhcpv6', '--no-ndp', '--no-ra', String(init)],
    ],
    { cwd: '/', env: {}, detached: true, stdio: ['ignore', 'ignore', 'pipe'], ...identity(uid) },
  )
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => {
    if (said.length < detailBytes) said += bytes.toString('utf8')
  })
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })
  let over = false
  void ended.then(() => {
    over = true
  })
  // It is the init of a namespace of its own: only SIGKILL ends it.
  const end = (): void => void child.kill('SIGKILL')
  try {
    await connected(init, () => over, signal)
  } catch (failure) {
    end()
    await ended
    signal.throwIfAborted()
    throw unavailable(reasonOf(said), failure)
  }
  if (child.pid === undefined) throw unavailable(reasonOf(said))
  return { pid: child.pid, ended, end }
}

function identity(uid: number | undefined): { uid?: number; gid?: number } {
  return uid === undefined ? {} : { uid, gid: uid }
}

async function setRules({ tools, init, uid, signal }: ConnectRequest, rules: string): Promise<void> {
  const into = ['--preserve-credentials', '--target', String(init), '--user', '--net', '--', tools.nft, '-f', '-']
  const child = spawn(tools.nsenter, into, {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'pipe'],
    timeout: rulesMs,
    killSignal: 'SIGKILL',
    signal,
    ...identity(uid),
  })
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => {
    if (said.length < detailBytes) said += bytes.toString('utf8')
  })
  child.stdin.on('error', () => {}) // it ended before it read its rules: its code tells
  child.stdin.end(rules)
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  signal.throwIfAborted()
  if (code !== 0) throw unavailable(`its rules could not be set: ${reasonOf(said)}`)
}

/** The kernel lists the machine's routes to whoever may see its PID 1: the default route comes last. */
async function connected(init: number, isOver: () => boolean, signal: AbortSignal): Promise<void> {
  const start = performance.now()
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 50)) {
    signal.throwIfAborted()
    const routes = await readFile(`/proc/${init}/net/route`, 'latin1')
    if (/^eth0\t00000000\t/m.test(routes)) return
    if (isOver()) throw new Error('pasta ended.')
    if (performance.now() > start + connectMs) throw new Error(`There was no route after ${connectMs} ms.`)
    await pause(waitMs)
  }
}

function reasonOf(said: string): string {
  const lines = said.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '' && !/to syslog$/.test(line)).join(' ') || 'no reason was given'
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('network/unavailable', `The sandbox could not be connected: ${reason}.`, { cause })
}
