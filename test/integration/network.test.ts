import { execFile } from 'node:child_process'
import { chown, copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { probeNetwork } from '#host/runtimes/bubblewrap/network/networkSupport.ts'
import { networksClosedToSandboxes } from '#platform/net/specialAddresses.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { ordinaryUid } from '../support/processes/runAsUser.ts'

/**
 * Sandboxes on a host made of namespaces. Its only network card leads to a network that responds on 203.0.113.7
 * (public), 10.77.0.1 (private) and 169.254.169.254 (cloud metadata). No traffic leaves this computer.
 */
const missing = process.getuid?.() === 0 ? (await probeNetwork(networksClosedToSandboxes)).detail : 'it needs root'

type Observation = {
  report: { networks: string[]; network_detail: string | null }
  seen: Record<'none' | 'internet' | 'open', Record<string, string>>
  changed: string[]
  left: number
}

/** On a fresh system only root may use the tunnel device, so its sandboxes get a separate one. */
const users = [
  ['root', [], '600'],
  ['an ordinary user', ['setpriv', '--reuid', `${ordinaryUid}`, '--regid', `${ordinaryUid}`, '--clear-groups'], '666'],
] as const

if (missing !== null)
  process.stdout.write(`skipped: networks of sandboxes are tried in a world of namespaces: ${missing}\n`)

describe.skipIf(missing !== null).each(users)('network access of a sandbox of %s', (_, become, tunnelMode) => {
  let observation: Observation

  beforeAll(async () => {
    observation = await inWorld<Observation>({ program: 'machine.ts', become, tunnelMode })
  }, 300_000)

  test('has three modes that the runtime reports', () => {
    expect(observation.report).toMatchObject({ networks: ['none', 'internet', 'open'], network_detail: null })
  })

  test('none: reaches only itself', () => {
    const { ownLoopback, ...others } = observation.seen.none
    expect(ownLoopback).toBe('mine')
    expect(new Set(Object.values(others).flatMap((said) => said.split('\n')))).toEqual(new Set(['-']))
  })

  test('internet: reaches public addresses and names but nothing private', () => {
    const { public: reached, byName, ownLoopback, ...others } = observation.seen.internet
    expect([reached, byName, ownLoopback]).toEqual(['203.0.113.7', '203.0.113.7', 'mine'])
    expect(new Set(Object.values(others).flatMap((said) => said.split('\n')))).toEqual(new Set(['-']))
  })

  test('open: reaches the networks of this computer but not its loopback', () => {
    const {
      public: reached,
      byName,
      private: inside,
      metadata,
      ownAddress,
      mapped,
      ownLoopback,
      ...others
    } = observation.seen.open
    expect([reached, byName, ownLoopback]).toEqual(['203.0.113.7', '203.0.113.7', 'mine'])
    expect([inside, metadata, ownAddress, mapped]).toEqual([
      '10.77.0.1',
      '169.254.169.254',
      '198.51.100.2',
      '10.77.0.1',
    ])
    expect(new Set(Object.values(others).flatMap((said) => said.split('\n')))).toEqual(new Set(['-']))
  })

  test('follows the network mode of the current start', () => expect(observation.changed).toEqual(['203.0.113.7', '-']))

  test('ends with the sandbox', () => expect(observation.left).toBe(0))
})

describe.skipIf(missing !== null)('a pinned network namespace', () => {
  type Pinned = Record<'pinned' | 'moved', { rules: string; cards: string; routes: string }> & {
    leftAfter: Record<'end' | 'kill', number>
    refusals: Record<'tunnel' | 'program', string>
  }
  let observation: Pinned

  beforeAll(async () => {
    observation = await inWorld<Pinned>({ program: 'pinned.ts', become: [], tunnelMode: '600' })
  }, 300_000)

  test('gets rules and an interface even if its first process changes namespaces', () => {
    expect(observation.pinned.rules).toContain('ip daddr 169.254.0.0/16 reject')
    expect(observation.pinned.cards).toContain('eth0')
    expect(observation.pinned.routes).toContain('default via 10.0.2.2 dev eth0')
  })

  test('adds none to the namespace that the process moved to', () => {
    expect(observation.moved).toEqual({ rules: '', cards: expect.not.stringContaining('eth0'), routes: '' })
  })

  test('is released when it ends and when its helper is killed', () => {
    expect(observation.leftAfter).toEqual({ end: 0, kill: 0 })
  })

  test('reports the reason for a failed connection', () => {
    expect(observation.refusals.program).toContain('/nowhere/pasta: No such file or directory')
    expect(observation.refusals.tunnel).toContain('tun')
  })
})

type World = { program: string; become: readonly string[]; tunnelMode: string }

/** Runs a program of `test/support/network` in separate namespaces, as the given user. @returns its output */
async function inWorld<Printed>({ program, become, tunnelMode }: World): Promise<Printed> {
  const folder = temporaryFolder('network')
  const node = join(folder, 'node')
  await copyFile(process.execPath, node)
  await mkdir(join(folder, 'machines'))
  if (become.length > 0)
    for (const path of [folder, join(folder, 'machines')]) await chown(path, ordinaryUid, ordinaryUid)
  const support = '/mnt/test/support/network'
  const command = [...become, node, `${support}/${program}`, `${folder}/machines`]
  const world = ['sh', `${support}/world.sh`, folder, node, ...command]
  const enter = ['sh', '-c', 'mount --bind "$1" /mnt && shift && exec "$@"', 'sh', projectFolder, ...world]
  const spaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  const environment = { ...process.env, TUNNEL_MODE: tunnelMode }
  const running = promisify(execFile)('unshare', [...spaces, '--', ...enter], {
    cwd: '/',
    timeout: 240_000,
    env: environment,
  })
  return JSON.parse((await running).stdout)
}
