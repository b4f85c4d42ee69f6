import { expect, test } from 'vitest'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { describeRivals } from './rivals.ts'

const request = (id: string, name: string, changes: Partial<IntentRecord> = {}) =>
  ({
    id,
    state: 'waiting',
    purchase: 'domain:seamrace.com',
    requester: { kind: name === 'You' ? 'person' : 'tool', id: name, name },
    ...changes,
  }) as IntentRecord // no other fields are read

test('names other requesters of the same purchase', () => {
  const own = request('1', 'You')
  expect(describeRivals(own, [own, request('2', 'Chat')])).toBe(
    'Chat also asks to register seamrace.com. One approval is enough.',
  )
  expect(describeRivals(request('2', 'Chat'), [own])).toBe(
    'You also ask to register seamrace.com. One approval is enough.',
  )
  expect(describeRivals(own, [request('2', 'Chat'), request('3', 'Codex'), request('4', 'Codex')])).toBe(
    'Chat and Codex also ask to register seamrace.com. One approval is enough.',
  )
})

test('ignores requests for other purchases and ended requests', () => {
  const own = request('1', 'You')
  const others = [
    request('2', 'Chat', { purchase: 'domain:other.com' }),
    request('3', 'Chat', { purchase: null }),
    request('4', 'Chat', { state: 'denied' }),
    request('5', 'Chat', { state: 'signed' }),
  ]
  expect(describeRivals(own, [own, ...others])).toBeUndefined()
  expect(
    describeRivals(request('6', 'You', { purchase: null }), [request('7', 'Chat', { purchase: null })]),
  ).toBeUndefined()
})
