import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { testLedgerNetwork } from '#shared/contract/networks.ts'
import { createTestLedgerLookup } from './authorizationLookup.ts'

const payment = {
  network: testLedgerNetwork.id,
  payer: '0x5d38E6C1923492247511a01b49e34A26cacD6811',
  payTo: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F',
  amount: '1950000',
  nonce: `0x${'1'.repeat(64)}`,
  validBeforeMs: Date.parse('2026-11-28T12:00:00Z'),
  sinceMs: Date.parse('2026-11-28T11:00:00Z'),
}

test('looks up test money only at the service that sold it', async () => {
  let requests = 0
  const client = {
    async call() {
      requests += 1
      return { used: false, transaction: null, at: '2026-11-28T13:00:00.000Z' } as never
    },
  }
  const lookup = createTestLedgerLookup(client, 'embedded')
  const other = await lookup.findState({ ...payment, service: 'https://service.example' })
  expect([other, requests]).toEqual([{ state: 'unknown', detail: 'This test money belongs to another service.' }, 0])
  expect(await lookup.findState({ ...payment, service: 'embedded' })).toEqual({ state: 'unused', isFinal: true })
  expect(await lookup.findState(payment)).toEqual({ state: 'unused', isFinal: true })
  expect(requests).toBe(2)
})

test('an unavailable service leaves the state of test money unknown', async () => {
  const client = {
    async call(): Promise<never> {
      throw new AppError('service/unavailable', 'The service is unavailable.')
    },
  }
  expect(await createTestLedgerLookup(client, 'embedded').findState(payment)).toEqual({
    state: 'unknown',
    detail: 'The service is unavailable.',
  })
})
