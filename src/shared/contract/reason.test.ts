import { expect, test } from 'vitest'
import { startRegistration } from './automatons.ts'
import { askIntent } from './intents.ts'

const bodies = {
  'an intent': (reason: string) =>
    askIntent.body.safeParse({ intent: { kind: 'message', text: 'Hello' }, reason }).error?.issues,
  'a registration': (reason: string) =>
    startRegistration.body.safeParse({ name: 'Ada', bio: '', reason }).error?.issues,
}

test.each(Object.entries(bodies))('rejects hidden characters in the reason of %s', (_, issuesOf) => {
  expect(issuesOf('To read prices.\nAnd more.')).toBeUndefined()
  for (const hidden of ['\u202e', '\u200b', '\u0000', '\u001b']) {
    expect(issuesOf(`To read${hidden}`)).toMatchObject([
      { path: ['reason'], message: 'must not contain control characters' },
    ])
  }
})
