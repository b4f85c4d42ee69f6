import { describe, expect, test } from 'vitest'
import { attack, attackFault } from '../support/attacks/attack.ts'
import { users } from '../support/processes/runAsUser.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

const mark = 'left-by-the-one-before'

describe.each(users)('a new sandbox, where Steward runs as %s,', (user) => {
  test.each([
    ['is started for it', false],
    ['was a warm one', true],
  ])('that %s sees nothing of a previous sandbox during or after its run', async (_, fromWarmPool) => {
    const { id, itself, beside, after } = await attack('observeInheritance', { user, fromWarmPool })
    for (const kind of [/\/root\//, /\/tmp\//, /\/dev\/shm\//, /\/run\//, /cmdline/, /net\/unix/, /memory:/])
      expect(itself.found, 'what was left is not found in the sandbox itself: the test shows nothing').toMatch(kind)
    for (const [when, neighbour] of Object.entries({ beside, after })) {
      expect(neighbour.found, when).toBe('')
      for (const text of Object.values(neighbour)) expect(text, when).not.toMatch(new RegExp(`${mark}|${id}`))
      expect(neighbour.hostname, when).toMatch(/^box\nbox\n/)
    }
  })
})

describe.each(users)('a sandbox that swaps its folders for links, where Steward runs as %s,', (user) => {
  test('changes nothing on the host on restart and starts unless the swap prevents it', async () => {
    const swaps = await attack('swapFolders', { user })
    expect(swaps.length).toBe(6)
    for (const swap of swaps) {
      expect(swap.changed, JSON.stringify(swap)).toEqual([])
      if (swap.refused !== null) expect(swap.refused, swap.what).toMatch(/^sandbox\/start-failed: /)
      if (swap.what.startsWith('all')) expect(swap.refused, swap.what).toBeNull()
    }
  })
})

describe.each(users)('a snapshot of a sandbox with a hostile /etc/ld.so.preload, where Steward runs as %s,', (user) => {
  skipWhen(attackFault)

  test('runs no preloaded library in PID 1 when restored or forked', async () => {
    const { restored, fork, restoredRuns } = await attack('hostileSnapshot', { user })
    expect({ restored, fork, restoredRuns }).toEqual({ restored: '', fork: '', restoredRuns: 'it runs' })
  })
})
