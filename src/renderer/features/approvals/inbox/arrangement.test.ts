import { expect, test } from 'vitest'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { arrangeInbox, countArrivals } from './arrangement.ts'
import { mergeInboxes, withIntent } from './inboxList.ts'

const intent = (id: string, minute: number, state: IntentRecord['state'] = 'waiting') =>
  ({ id, state, created_at: `2026-01-01T00:0${minute}:00.000Z` }) as IntentRecord // only these fields are read

test('lists the newest intent first and updates a changed one in place', () => {
  const inbox = [intent('b', 2), intent('a', 1)]
  expect(withIntent(inbox, intent('c', 3)).map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  const denied = withIntent(inbox, intent('a', 1, 'denied'))
  expect(denied.map(({ id, state }) => `${id} ${state}`)).toEqual(['b waiting', 'a denied'])
})

test('lists a waiting intent once regardless of its age', () => {
  const old = intent('old', 1)
  const fresh = intent('fresh', 3)
  expect(mergeInboxes([fresh, old], [fresh, intent('signed', 2, 'signed')]).map(({ id }) => id)).toEqual([
    'fresh',
    'signed',
    'old',
  ])
})

test('counts arrivals since the rows were frozen', () => {
  const frozen = arrangeInbox([intent('b', 2), intent('a', 1)])
  expect(frozen).toEqual({ waiting: ['b', 'a'], decided: [] })
  const present = arrangeInbox([intent('c', 3), intent('b', 2, 'denied'), intent('a', 1)])
  expect(countArrivals(frozen, present)).toBe(1)
  expect(countArrivals(frozen, frozen)).toBe(0)
})
