import { expect, test } from 'vitest'
import type { Automaton, AutomatonRegistration } from '#shared/contract/automatons.ts'
import { mergeIdentities, withRegistration } from './identityList.ts'

const ids = ['a', 'b', 'c'].map((it) => `${it.repeat(8)}-0000-4000-8000-000000000000`)
const [one = '', two = '', three = ''] = ids

function automaton(automaton_id: string, created_at: string): Automaton {
  const address = `0x${'1'.repeat(40)}`
  return {
    automaton_id,
    name: 'Ada',
    bio: '',
    creator_address: address,
    automaton_address: address,
    genesis_prompt_hash: null,
    chain_type: 'evm',
    status: 'registered',
    created_at,
  }
}

function registration(
  id: string,
  automaton_id: string,
  state: AutomatonRegistration['state'],
  created_at: string,
): AutomatonRegistration {
  const listed = automaton(automaton_id, created_at)
  const { chain_type, status: _, created_at: __, genesis_prompt_hash: ___, ...profile } = listed
  return {
    id,
    intent_id: `int_${id}`,
    profile,
    chain_type,
    nonce: 'n',
    payload_hash: '0x',
    state,
    detail: null,
    automaton: state === 'registered' ? listed : null,
    created_at,
  }
}

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`

test('lists registered and pending identities newest first without duplicates', () => {
  const here = [registration('r2', two, 'waiting', at(3)), registration('r1', one, 'registered', at(1))]
  const listed = [automaton(three, at(2)), automaton(one.replaceAll('-', ''), at(1))]
  expect(mergeIdentities(here, listed).map(({ key, state }) => [key, state])).toEqual([
    ['r2', 'waiting'],
    [three, 'registered'],
    ['r1', 'registered'],
  ])
})

test('prefers a successful registration over the newest attempt of an automaton', () => {
  const tries = [registration('r2', one, 'failed', at(2)), registration('r1', one, 'refused', at(1))]
  expect(mergeIdentities(tries, []).map(({ key }) => key)).toEqual(['r2'])
  const done = [registration('r3', one, 'failed', at(3)), registration('r0', one, 'registered', at(0))]
  expect(mergeIdentities(done, []).map(({ key }) => key)).toEqual(['r0'])
})

test('an event updates a registration or adds it', () => {
  const waiting = registration('r1', one, 'waiting', at(1))
  const sending = registration('r1', one, 'sending', at(1))
  expect(withRegistration([], waiting)).toEqual([waiting])
  expect(withRegistration([waiting], sending)).toEqual([sending])
})
