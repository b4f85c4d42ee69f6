import { beforeAll, describe, expect, test } from 'vitest'
import { probeNetwork } from '#host/runtimes/bubblewrap/network/networkSupport.ts'
import type { SandboxLayer } from '#host/runtimes/bubblewrap/sandboxLayers.ts'
import { networksClosedToSandboxes } from '#platform/net/specialAddresses.ts'
import type { Network } from '#shared/contract/sandboxes.ts'
import type { AddressObservation } from '../support/attacks/addressRun.ts'
import { attackFault } from '../support/attacks/attack.ts'
import type { FrameObservation } from '../support/attacks/frameRun.ts'
import { runInWorld } from '../support/network/inWorld.ts'
import { users } from '../support/processes/runAsUser.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

/** See `test/support/network/world.sh`: no traffic leaves this computer. */
const missing =
  attackFault ??
  (process.getuid?.() === 0
    ? (await probeNetwork(networksClosedToSandboxes)).detail
    : 'a world of namespaces needs root')
type Observation = {
  before: { reached: string[]; isPublicReached: boolean }
  after: { delayMs: number; refused: string | null; reached: string[]; moved: string }[]
  isPublicReached: boolean
  links: { link: string; refused: string | null; host: string }[]
}

const filters: readonly SandboxLayer[] = ['outer-filter', 'inner-filter']
const againstFrames: readonly (readonly SandboxLayer[])[] = [filters, ['no-raw-sockets'], ['frame-rules']]

describe.each(users)('frames that a sandbox writes itself, where Steward runs as %s,', (user) => {
  skipWhen(missing)
  const sendFrames = async (lists: readonly (readonly SandboxLayer[])[], network: Network = 'internet') =>
    runInWorld<FrameObservation[]>('test/support/attacks/frameRun.ts', user, [JSON.stringify(lists), network])

  test('reach no private network while any single layer against them is active', async () => {
    const all = againstFrames.flat()
    const alone = againstFrames.map((removed) => all.filter((layer) => !removed.includes(layer)))
    const observations = await sendFrames([[], ...againstFrames, ...alone])
    expect(observations.length).toBe(7)
    for (const { without, closed } of observations) {
      const said = closed.flatMap((address) => Object.values(address))
      expect(said.length, without.join()).toBe(15)
      expect(said, without.join()).not.toContain('answered')
    }
  })

  test('reach a private network but not the loopback of this computer with network `open`', async () => {
    const [observation] = await sendFrames([[...filters, 'no-raw-sockets']], 'open')
    expect(observation?.closed[0]?.['SOCK_PACKET of AF_INET']).toBe('answered')
    expect(Object.values(observation?.closed.at(-1) ?? {})).toEqual(['silent', 'silent', 'silent'])
  })

  test('reach every network without these layers, which validates the tests above', async () => {
    const [observation] = await sendFrames([againstFrames.flat()])
    for (const address of observation?.closed ?? []) expect(address['SOCK_PACKET of AF_INET']).toBe('answered')
    expect(observation?.open['SOCK_PACKET of AF_INET']).toBe('answered')
  })
})

describe.each(users)('addresses of this computer, where Steward runs as %s,', (user) => {
  skipWhen(missing)

  test('are refused with network `internet`, including those of lo and those added later', async () => {
    const { internet, open } = await runInWorld<AddressObservation>('test/support/attacks/addressRun.ts', user)
    expect(internet).toEqual({ ofLoopback: '-', ofAzure: '-', later: '-', ping: '0' })
    expect(open).toEqual({ ofLoopback: '198.51.100.77', ofAzure: '168.63.129.16', later: '203.0.113.99', ping: '0' })
  })
})

describe.each(users)('a sandbox with network `internet`, where Steward runs as %s,', (user) => {
  let observation: Observation
  skipWhen(missing)
  beforeAll(async () => {
    if (missing) return
    observation = await runInWorld<Observation>('test/support/attacks/networkRun.ts', user)
  }, 240_000)

  test('reaches no private address even if PID 1 changes networks while it connects', () => {
    const { before, after, isPublicReached } = observation
    expect(before).toEqual({ reached: [], isPublicReached: true })
    for (const start of after) expect(start.reached, JSON.stringify(start)).toEqual([])
    expect(after.length).toBe(10)
    expect(after.map(({ refused }) => refused)).toEqual(after.map(() => null))
    expect(isPublicReached).toBe(true)
  })

  test('starts with any link target of /etc/resolv.conf and changes no host file', () => {
    expect(observation.links.length).toBe(5)
    for (const { link, refused, host } of observation.links) {
      expect(host, link).toBe('of the host')
      expect(refused, link).toBeNull()
    }
  })
})
