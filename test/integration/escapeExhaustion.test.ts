import { describe, expect, test } from 'vitest'
import { attack, attackFault } from '../support/attacks/attack.ts'
import { users, withIds } from '../support/processes/runAsUser.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

/** The kernel provides about 3,000 pseudo-terminals to all sandboxes together. */
const tooMany = 1_500

describe.each(users)('a sandbox, where Steward runs as %s,', (user) => {
  skipWhen(attackFault)

  test('cannot exhaust the pseudo-terminals of other sandboxes', async () => {
    const { opened, ofAnother, afterwards } = await attack('allTerminals', { user })
    expect(opened).toBeGreaterThan(0)
    expect(opened).toBeLessThan(tooMany)
    expect(ofAnother).toMatch(/^\/dev\/pts\/\d+$/)
    expect(afterwards).toMatch(/^\/dev\/pts\/\d+$/)
  })

  test('continues after it has filled its in-memory folders', async () => {
    const result = await attack('fullMemoryFolders', { user })
    expect(Object.keys(result)).toEqual(['/run', '/dev', '/dev/shm'])
    for (const [folder, { said, goesOn }] of Object.entries(result)) {
      expect(goesOn, `after ${folder} was filled: ${said}`).toBe('goes on')
      expect(said, `${folder} took 700 MB`).not.toBe('0')
    }
  })

  test('has the same process limit for many users as for one with an image', async (context) => {
    const result = await attack('processesOfManyUsers', { user })
    if ('noImages' in result) return context.skip(result.noImages)
    expect(result.enforced).toBe(true)
    expect(result.made).toBeGreaterThan(500)
    expect(result.made).toBeLessThanOrEqual(1024)
  })
})

describe('kernel resources counted by user, where an ordinary user runs Steward,', () => {
  skipWhen(attackFault)
  const free = { watches: 1, signals: 1, queues: 1, pipes: 1, files: 1 }

  test('remain available to the user and to other sandboxes with subordinate ids', async () => {
    const { inside, beside, outside } = await attack('perUserLimits', { user: withIds })
    for (const name of Object.keys(free)) expect(inside[name], name).toBeGreaterThan(0)
    expect(inside.signals).toBeLessThanOrEqual(2048)
    expect(outside).toEqual(free)
    expect(beside).toEqual(free)
  })

  test('remain available to the user beside many parallel sandboxes with subordinate ids', async () => {
    const { outside } = await attack('perUserLimitsByMany', { user: withIds })
    expect(outside).toEqual(free)
  })

  test('remain available to the user within the enforceable limits without subordinate ids', async () => {
    const { inside, beside, outside } = await attack('perUserLimits', { user: 'an ordinary user' })
    for (const name of Object.keys(free)) expect(inside[name], name).toBeGreaterThan(0)
    expect(inside.signals).toBeLessThanOrEqual(2048)
    // Pages of pipes and files in flight over sockets are not limited per sandbox.
    expect(outside).toEqual({ ...free, pipes: expect.any(Number) })
    expect(beside).toEqual({ ...free, pipes: expect.any(Number), files: expect.any(Number) })
  })
})
