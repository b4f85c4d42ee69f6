import { describe, expect, test } from 'vitest'
import { probeNetwork } from '../../src/main/host/runtimes/bubblewrap/network/networkAbilities.ts'
import { users } from '../support/asUser.ts'
import { attackFault } from '../support/attacks/attack.ts'
import { printedInWorld } from '../support/network/inWorld.ts'

/** See `test/support/network/world.sh`: nothing leaves this machine. */
const missing =
  attackFault ?? (process.getuid?.() === 0 ? (await probeNetwork()).detail : 'a world of namespaces needs root')
if (missing) process.stdout.write(`skipped: attacks on the network of sandboxes: ${missing}\n`)

type Seen = {
  before: { reached: string[]; isPublicReached: boolean }
  after: { delayMs: number; refused: string | null; reached: string[]; moved: string }[]
  isPublicReached: boolean
}

describe.skipIf(Boolean(missing)).each(users)(
  'a sandbox with network `internet`, where Steward runs as %s,',
  (user) => {
    test('never reaches private addresses, even if PID 1 tries to change networks while it is connected', async () => {
      const { before, after, isPublicReached } = await printedInWorld<Seen>('test/support/attacks/networkRun.ts', user)
      expect(before).toEqual({ reached: [], isPublicReached: true })
      for (const start of after) expect(start.reached, JSON.stringify(start)).toEqual([])
      expect(after.length).toBe(10)
      expect(after.map(({ refused }) => refused)).toEqual(after.map(() => null))
      expect(isPublicReached).toBe(true)
    })
  },
)
