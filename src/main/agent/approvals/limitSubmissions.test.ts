import { expect, onTestFinished, test } from 'vitest'
import type { Requester } from '#shared/contract/intents.ts'
import {
  agent,
  openApprovals,
  otherScript,
  person,
  rule,
  script,
  signInTo,
  withRules,
} from '#test/support/fixtures/approvals.ts'
import { limitSubmissions, submissionRateLimits } from './limitSubmissions.ts'

const { burst } = submissionRateLimits.ofOneRequester

function openPaced() {
  let nowMs = 1_800_000_000_000
  const now = () => nowMs
  const approvals = openApprovals({ now })
  onTestFinished(approvals.close)
  approvals.approvals.changePolicy(withRules([rule({ effect: 'deny' })]))
  const paced = limitSubmissions(approvals.approvals, now)
  const ask = (requester: Requester) => paced.submit({ intent: signInTo('a.example'), requester })
  const pass = (seconds: number) => {
    nowMs += seconds * 1000
  }
  return { ...approvals, paced, ask, pass }
}

const tooOften = (retryAfterSeconds: number) =>
  expect.objectContaining({ code: 'request/rate', status: 429, retryAfterSeconds })

test('rate-limits a program with a retry time and records nothing', async () => {
  const { ask, pass, notes: activity, approvals } = openPaced()
  for (let count = 0; count < burst; count++) expect((await ask(script)).state).toBe('denied')
  const noted = activity.length
  for (let count = 0; count < 3; count++) await expect(ask(script)).rejects.toThrow(tooOften(3))
  expect(activity).toHaveLength(noted)
  expect(approvals.list({ limit: 200 }).intents).toHaveLength(burst)
  pass(3)
  expect((await ask(script)).state).toBe('denied')
  await expect(ask(script)).rejects.toThrow(tooOften(3))
})

test('a flooding program does not delay other programs, the user or Steward', async () => {
  const { ask } = openPaced()
  for (let count = 0; count < burst; count++) await ask(script)
  await expect(ask(script)).rejects.toThrow(tooOften(3))
  expect((await ask(otherScript)).state).toBe('denied')
  for (let count = 0; count < 2 * burst; count++) await ask(count % 2 === 0 ? person : agent)
})

test('limits submissions across many keys together', async () => {
  const { ask } = openPaced()
  const { burst: all } = submissionRateLimits.ofAllTogether
  const requester = (count: number) => ({ ...script, id: `key:${Math.floor(count / burst)}` })
  for (let count = 0; count < all; count++) await ask(requester(count))
  await expect(ask(requester(all))).rejects.toThrow(tooOften(1))
  expect((await ask(person)).state).toBe('denied')
})

test('a rate-limited requester may still cancel, up to the same limit', async () => {
  const { ask, paced } = openPaced()
  for (let count = 0; count < burst; count++) await ask(script)
  await expect(ask(script)).rejects.toThrow(tooOften(3))
  for (let count = 0; count < burst; count++) {
    expect(() => paced.cancel('int_none', script)).toThrow(expect.objectContaining({ code: 'intent/not-found' }))
  }
  expect(() => paced.cancel('int_none', script)).toThrow(tooOften(3))
})
