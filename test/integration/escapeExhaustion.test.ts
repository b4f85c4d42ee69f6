import { describe, expect, test } from 'vitest'
import { users } from '../support/asUser.ts'
import { attack, attackFault } from '../support/attacks/attack.ts'
import { skipWhen } from '../support/skipWhen.ts'

/** The kernel gives about 3,000 pseudo-terminals to all sandboxes together. */
const tooMany = 1_500

describe.each(users)('a sandbox, where Steward runs as %s,', (user) => {
  skipWhen(attackFault)

  test('cannot take the pseudo-terminals of others', async () => {
    const { opened, ofAnother, afterwards } = await attack('allTerminals', { user })
    expect(opened).toBeGreaterThan(0)
    expect(opened).toBeLessThan(tooMany)
    expect(ofAnother).toMatch(/^\/dev\/pts\/\d+$/)
    expect(afterwards).toMatch(/^\/dev\/pts\/\d+$/)
  })

  test('goes on after it has filled the folders that are in memory', async () => {
    const seen = await attack('fullMemoryFolders', { user })
    expect(Object.keys(seen)).toEqual(['/run', '/dev', '/dev/shm'])
    for (const [folder, { said, goesOn }] of Object.entries(seen)) {
      expect(goesOn, `after ${folder} was filled: ${said}`).toBe('goes on')
      expect(said, `${folder} took 700 MB`).not.toBe('0')
    }
  })
})
