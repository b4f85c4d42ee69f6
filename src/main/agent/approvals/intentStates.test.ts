import { describe, expect, test } from 'vitest'
import { IntentState } from '#shared/contract/intents.ts'
import { getNextState, getReservationStep, type IntentEvent, isOpen } from './intentStates.ts'

const events: readonly IntentEvent[] = [
  ...(['ask', 'approve', 'defer', 'reconsider', 'deny', 'stop'] as const),
  ...(['withdraw', 'revoke', 'expire', 'lock', 'sign', 'fail'] as const),
]
const states = [...IntentState.options, 'new'] as const
const allWays = states.flatMap((from) =>
  events.flatMap((event) => {
    const to = getNextState(from, event)
    return to ? [{ from, event, to }] : []
  }),
)

describe('intent states', () => {
  test('have only the listed transitions', () => {
    expect(allWays.map(({ from, event, to }) => `${from} –${event}→ ${to}`)).toEqual([
      'waiting –approve→ approved',
      'waiting –defer→ waiting',
      'waiting –reconsider→ waiting',
      'waiting –deny→ denied',
      'waiting –stop→ denied',
      'waiting –withdraw→ denied',
      'waiting –revoke→ denied',
      'waiting –expire→ expired',
      'waiting –fail→ failed',
      'approved –stop→ denied',
      'approved –revoke→ denied',
      'approved –lock→ waiting',
      'approved –sign→ signed',
      'approved –fail→ failed',
      'new –ask→ waiting',
    ])
  })

  test('reach signed only through approved', () => {
    expect(allWays.filter(({ to }) => to === 'signed').map(({ from }) => from)).toEqual(['approved'])
    expect(allWays.filter(({ to }) => to === 'approved').map(({ event }) => event)).toEqual(['approve'])
  })

  test('are final once signed or denied, expired or failed', () => {
    expect(IntentState.options.filter((state) => !isOpen(state))).toEqual(['signed', 'denied', 'expired', 'failed'])
  })

  test('are all reachable from the initial state', () => {
    const reached = new Set<string>(['new'])
    for (const _ of states) for (const { from, to } of allWays) if (reached.has(from)) reached.add(to)
    expect([...reached].sort()).toEqual([...states].sort())
  })
})

describe('reservations', () => {
  test('are made on approval and committed or released on every transition from it', () => {
    for (const { from, to } of allWays) {
      if (from === 'new') continue
      const step = getReservationStep(from, to)
      if (to === 'approved') expect(step).toBe('reserve')
      else if (from === 'approved') expect(step).toBe(to === 'signed' ? 'commit' : 'giveBack')
      else expect(step).toBeUndefined()
    }
  })
})
