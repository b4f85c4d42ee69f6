import { expect, test } from 'vitest'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { createOffer } from '#test/support/fakes/hostileSeller.ts'
import type { StoredPayment } from './paymentRepository.ts'
import type { SellerResponse } from './seller.ts'
import { createSigningCheck } from './signingCheck.ts'

const nowMs = Date.parse('2026-11-25T12:00:00Z')

function createIntent(waitedMs: number): IntentRecord {
  return {
    ...{ id: 'int_1', kind: 'x402.authorize', scope: 'eip155:8453:0x2222222222222222222222222222222222222222' },
    created_at: new Date(nowMs - waitedMs).toISOString(),
  } as IntentRecord // no other fields are read
}

function openCheck(options: {
  via?: 'service' | 'public' | null
  answer?: Partial<SellerResponse> | Error
  amount?: string
}) {
  const { via = 'service', answer, amount = '1000000' } = options
  const networks: string[] = []
  const payment = {
    request: { via, method: 'POST', url: '/domains/register', headers: {}, body: '{}' },
    record: { url: 'http://127.0.0.1:4000/domains/register', amount },
  } as StoredPayment // no other fields are read
  const check = createSigningCheck({
    payments: { ofIntent: () => (via === null ? undefined : payment) },
    ownService: () => ({
      async ask() {
        if (answer instanceof Error) throw answer
        return { status: 402, headers: {}, body: Buffer.alloc(0), truncated: false, ...answer }
      },
      close() {},
    }),
    isOwnService: () => true,
    hasSolana: () => false,
    clock: {
      assertAtSeller: async () => {},
      assertAtChain: async (network) => void networks.push(network),
    },
    now: () => nowMs,
  })
  return { check: (waitedMs = 0) => check(createIntent(waitedMs)), networks }
}

const refusal = (status: number, code: string) => ({
  status,
  body: Buffer.from(JSON.stringify({ error: 'No.', code })),
})

test.each(['domain/taken', 'domain/busy', 'sandbox/not-found'])(
  'does not sign after the service replies with %s',
  (code) =>
    expect(
      openCheck({ answer: refusal(code === 'sandbox/not-found' ? 404 : 409, code) }).check(),
    ).rejects.toMatchObject({
      code,
    }),
)

test.each<[string, Partial<SellerResponse> | Error]>([
  ['is away', new Error('It is away.')],
  ['fails', refusal(503, 'service/unavailable')],
  ['is asked too often', refusal(429, 'request/rate')],
  ['still offers it', {}],
])('signs if the service %s', (_, answer) => expect(openCheck({ answer }).check()).resolves.toBeUndefined())

test('does not sign after a price change', async () => {
  const offer = createOffer()
  const body = Buffer.from(JSON.stringify({ x402Version: 1, accepts: [offer] }))
  const amount = String(Number(offer.maxAmountRequired))
  await expect(openCheck({ answer: { body }, amount }).check()).resolves.toBeUndefined()
  await expect(openCheck({ answer: { body }, amount: '1' }).check()).rejects.toMatchObject({ code: 'purchase/price' })
})

test('checks the clock against the network without a recent seller response', async () => {
  const minuteMs = 60_000
  for (const [via, waitedMs, networks] of [
    ['service', minuteMs, []],
    ['public', minuteMs, []],
    ['public', 3 * minuteMs, ['eip155:8453']],
    [null, 0, ['eip155:8453']],
  ] as const) {
    const opened = openCheck({ via })
    await opened.check(waitedMs)
    expect([via, waitedMs, opened.networks]).toEqual([via, waitedMs, networks])
  }
})
