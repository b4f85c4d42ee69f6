import { beforeAll, describe, expect, test } from 'vitest'
import { probeNetwork } from '../../src/main/host/runtimes/bubblewrap/network/networkAbilities.ts'
import { users } from '../support/asUser.ts'
import { attackFault } from '../support/attacks/attack.ts'
import { printedInWorld } from '../support/network/inWorld.ts'
import { skipWhen } from '../support/skipWhen.ts'

/** See `test/support/network/world.sh`: nothing leaves this machine. */
const missing =
  attackFault ?? (process.getuid?.() === 0 ? (await probeNetwork()).detail : 'a world of namespaces needs root')
type Seen = {
  before: { reached: string[]; isPublicReached: boolean }
  after: { delayMs: number; refused: string | null; reached: string[]; moved: string }[]
  isPublicReached: boolean
  links: { link: string; refused: string | null; host: string }[]
}

describe.each(users)('a sandbox with network `internet`, where Steward runs as %s,', (user) => {
  let seen: Seen
  skipWhen(missing)
  beforeAll(async () => {
    if (missing) return
    seen = await printedInWorld<Seen>('test/support/attacks/networkRun.ts', user)
  }, 240_000)

  test('never reaches private addresses, even if PID 1 tries to change networks while it is connected', () => {
    const { before, after, isPublicReached } = seen
    expect(before).toEqual({ reached: [], isPublicReached: true })
    for (const start of after) expect(start.reached, JSON.stringify(start)).toEqual([])
    expect(after.length).toBe(10)
    expect(after.map(({ refused }) => refused)).toEqual(after.map(() => null))
    expect(isPublicReached).toBe(true)
  })

  test('starts whatever its /etc/resolv.conf links to, and no file of the host changes', () => {
    expect(seen.links.length).toBe(5)
    for (const { link, refused, host } of seen.links) {
      expect(host, link).toBe('of the host')
      expect(refused, link).toBeNull()
    }
  })
})
