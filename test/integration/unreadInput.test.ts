import { describe, expect, test } from 'vitest'
import { printedAs, users } from '../support/asUser.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

describe.each(users)('as %s', (user) => {
  test('a program that does not read its input does not block other sandboxes', async () => {
    const folder = temporaryFolder('unread')
    const seen = await printedAs({ script: 'test/support/unreadInput.ts', parts: [folder], folder, user })

    expect(seen.writes).toEqual(['written', 'written', 'written', 'written', 'terminal/input-full'])
    expect([seen.besideInput, seen.besideQueries]).toEqual(['fine\n', 'fine\n'])
    expect([seen.late, seen.isWhole]).toEqual(['written', true])
    expect(seen.stored).toEqual([])
  })
})
