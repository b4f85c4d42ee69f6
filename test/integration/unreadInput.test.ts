import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { runAndParse, users } from '../support/processes/runAsUser.ts'

describe.each(users)('as %s', (user) => {
  test('a program that does not read its input does not block other sandboxes', async () => {
    const folder = temporaryFolder('unread')
    const result = await runAndParse({ script: 'test/support/processes/unreadInput.ts', parts: [folder], folder, user })

    expect(result.writes).toEqual(['written', 'written', 'written', 'written', 'terminal/input-full'])
    expect([result.besideInput, result.besideQueries]).toEqual(['fine\n', 'fine\n'])
    expect([result.late, result.isWhole]).toEqual(['written', true])
    expect(result.stored).toEqual([])
  })
})
