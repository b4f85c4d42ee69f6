import { beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '#test/support/assertions/eventually.ts'
import { createOffer, hostileSeller, payee, respond, transaction } from '#test/support/fakes/hostileSeller.ts'
import { rule, script } from '#test/support/fixtures/approvals.ts'
import { openPayments, paymentsOfTest } from '#test/support/fixtures/openPayments.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { toEndedError, toRequesterPrincipal } from '../base/agentPrincipals.ts'
import type { AuthorizationState } from '../base/authorizations.ts'
import { createPublicSeller, type Seller } from './seller.ts'

const failsWith = (code: string) => expect.objectContaining({ code })
const used = { state: 'used', transaction } as const
const never: AuthorizationState = { state: 'unused', isFinal: true }
const getId = (payment: Awaited<ReturnType<ReturnType<typeof openPayments>['pay']>>) => {
  if (!payment) throw new Error('Nothing was paid.')
  return payment.record.id
}

test('pays an honest seller once and stores its response', async () => {
  const seller = await hostileSeller(respond)
  const { pay, ended, records } = paymentsOfTest()
  const paid = await ended(getId(await pay(`${seller.url}/report`)))
  expect(paid).toMatchObject({
    record: { state: 'settled', paid: true, paid_micro_usd: 10_000, transaction, host: new URL(seller.url).host },
    answer: { status: 200, body: '{"report":1}' },
    attempts: 1,
  })
  expect(seller.signatures()).toBe(1)
  expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 10_000, reserved: 0 })
})

test('sends credentials with the payment and never stores them', async () => {
  const seller = await hostileSeller((sellerRequest, response) =>
    sellerRequest.request.headers.authorization === 'Bearer secret'
      ? respond(sellerRequest, response)
      : void response.writeHead(401).end(),
  )
  const { pay, ended } = paymentsOfTest()
  const paid = await ended(getId(await pay(seller.url, { headers: { authorization: 'Bearer secret', accept: '*/*' } })))
  expect(paid.record).toMatchObject({ state: 'settled', paid: true })
  expect(JSON.stringify(paid)).not.toContain('secret')
})

test('does not pay for free responses', async () => {
  const seller = await hostileSeller(respond)
  const { pay } = paymentsOfTest({
    seller: {
      ask: async () => ({ status: 200, headers: {}, body: Buffer.from('free'), truncated: false }),
      close() {},
    },
  })
  expect(await pay(`${seller.url}/report`)).toBeUndefined()
  expect(seller.payments()).toEqual([])
})

describe('one signature per payment', () => {
  test('resends the same bytes after a dropped connection', async () => {
    const seller = await hostileSeller((sellerRequest, response) =>
      seller.payments().length < 3 ? void sellerRequest.request.socket.destroy() : respond(sellerRequest, response),
    )
    const { pay, ended } = paymentsOfTest()
    const paid = await ended(getId(await pay(seller.url)))
    expect(paid.record).toMatchObject({ state: 'settled', paid: true })
    expect([seller.payments().length, seller.signatures()]).toEqual([3, 1])
  })

  test('resends the same bytes after a 503', async () => {
    const seller = await hostileSeller((sellerRequest, response) => {
      if (seller.payments().length > 1) return respond(sellerRequest, response)
      response.writeHead(503, { 'retry-after': '1' }).end()
    })
    const { pay, ended } = paymentsOfTest()
    expect((await ended(getId(await pay(seller.url)))).record.state).toBe('settled')
    expect([seller.payments().length, seller.signatures()]).toEqual([2, 1])
  })

  test('refuses a higher price after payment and settles by chain state', async () => {
    const seller = await hostileSeller((_, response) => {
      response.writeHead(402).end(
        JSON.stringify({
          x402Version: 1,
          error: 'a bit more',
          accepts: [createOffer({ maxAmountRequired: '9000000' })],
        }),
      )
    })
    let nowMs = Date.now()
    let chain: AuthorizationState = { state: 'unused', isFinal: false }
    const { pay, ended, engine, read, records } = paymentsOfTest({ now: () => nowMs, chain: () => chain })
    const id = getId(await pay(seller.url))
    expect((await ended(id)).record).toMatchObject({
      ...{ state: 'refused', paid: null, error: 'The seller refused the payment: a bit more' },
    })
    expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 0, reserved: 10_000 })
    nowMs += 10 * 60_000
    await engine.follow(id) // expired by the local clock, but not yet confirmed by the chain
    expect(read(id)?.record.paid).toBeNull()
    expect(records.sum({ sinceMs: 0 }).reserved).toBe(10_000)
    chain = never
    await engine.follow(id)
    expect(read(id)?.record).toMatchObject({ state: 'refused', paid: false, reconciled_by: 'chain' })
    expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 0, reserved: 0 })
    expect(seller.signatures()).toBe(1)
  })

  test('reports a refusal immediately and does not retry', async () => {
    const seller = await hostileSeller((_, response) => void response.writeHead(409).end('{"error":"It is sold."}'))
    const { pay, ended, engine } = paymentsOfTest()
    const id = getId(await pay(seller.url))
    const error = 'The seller refused the payment: It is sold.'
    expect((await ended(id)).record).toMatchObject({ state: 'refused', paid: null, error })
    await engine.follow(id)
    expect(seller.payments()).toHaveLength(1)
  })

  test('reconciles with the chain after a false refusal', async () => {
    const seller = await hostileSeller((_, response) => void response.writeHead(402).end('no'))
    const { pay, ended, engine, read, records } = paymentsOfTest({ chain: () => used })
    const id = getId(await pay(seller.url))
    await ended(id)
    await eventually(async () => {
      await engine.follow(id)
      expect(read(id)?.record.paid).toBe(true)
    })
    expect(read(id)?.record).toMatchObject({ state: 'reconciled', paid: true, transaction, reconciled_by: 'chain' })
    expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 10_000, reserved: 0 })
  })

  test.each([
    ['no receipt', {}],
    ['a receipt that cannot be read', { 'x-payment-response': '!!' }],
    [
      'a receipt of somebody else',
      { 'payment-response': JSON.stringify({ success: true, payer: payee, transaction }) },
    ],
    ['a receipt of another network', { 'payment-response': JSON.stringify({ success: true, network: 'eip155:1' }) }],
    ['a receipt that says it failed', { 'payment-response': JSON.stringify({ success: false }) }],
  ])('reconciles with the chain after a response with %s', async (_, headers) => {
    const seller = await hostileSeller((__, response) => void response.writeHead(200, headers).end('here'))
    const { pay, engine, ended, read } = paymentsOfTest({ chain: () => used })
    const id = getId(await pay(seller.url))
    await eventually(() => expect(read(id)?.record.state).toBe('unknown'))
    await engine.follow(id)
    expect(await ended(id)).toMatchObject({ record: { state: 'reconciled', paid: true }, answer: { body: 'here' } })
    expect(seller.payments()).toHaveLength(1)
  })

  test('does not send the payment to a redirect target', async () => {
    const otherSeller = await hostileSeller(respond)
    const seller = await hostileSeller(
      (_, response) => void response.writeHead(307, { location: otherSeller.url }).end(),
    )
    const { pay, read } = paymentsOfTest()
    const id = getId(await pay(seller.url))
    await eventually(() => expect(read(id)?.record.state).toBe('unknown'))
    expect(otherSeller.asked).toEqual([])
  })

  test('accepts the receipt of an endless response and truncates the body', async () => {
    const seller = await hostileSeller((_, response) => {
      response.writeHead(200, { 'payment-response': JSON.stringify({ success: true, transaction }) })
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 97)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    const { pay, ended } = paymentsOfTest()
    const paid = await ended(getId(await pay(seller.url)))
    expect(paid).toMatchObject({ record: { state: 'settled' }, answer: { truncated: true } })
    expect(paid.answer?.body).toHaveLength(1024 * 1024)
  })

  test('treats oversized headers as an unknown outcome', async () => {
    const seller = await hostileSeller((_, response) => void response.writeHead(200, { x: 'a'.repeat(60_000) }).end())
    const { pay, read } = paymentsOfTest()
    const id = getId(await pay(seller.url))
    await eventually(() =>
      expect(read(id)?.record).toMatchObject({
        state: 'unknown',
        error: expect.stringContaining('HPE_HEADER_OVERFLOW'),
      }),
    )
  })
})

describe('before signing', () => {
  const cases: [string, object, string][] = [
    ['what nobody can pay', { scheme: 'auth-capture' }, 'purchase/offer'],
    ['more than the caller would pay', { maxAmountRequired: '10000001' }, 'purchase/over-maximum'],
    [
      'test money of this computer',
      { network: 'eip155:31337', asset: '0x7357000000000000000000000000000000031337' },
      'purchase/offer',
    ],
    ['an own account as payee', { payTo: 'own' }, 'intent/invalid'],
    ['the zero address', { payTo: `0x${'0'.repeat(40)}` }, 'intent/invalid'],
  ]
  test.each(cases)('%s is refused', async (_, over, code) => {
    const { pay, signer } = paymentsOfTest()
    const ownAddress = signer.wallet.accounts()[0]?.address
    const seller = await hostileSeller(respond, JSON.parse(JSON.stringify(over).replace('"own"', `"${ownAddress}"`)))
    await expect(pay(seller.url)).rejects.toThrow(failsWith(code))
    expect(seller.payments()).toEqual([])
  })

  test('rejects a changed payee until the user resets the first one', async () => {
    let payTo = payee
    const seller = await hostileSeller(respond, () => ({ payTo }))
    const { pay, ended, records } = paymentsOfTest()
    await ended(getId(await pay(seller.url)))
    payTo = '0x000000000000000000000000000000000000dEaD'
    await expect(pay(seller.url)).rejects.toThrow(failsWith('purchase/payee'))
    records.forget(new URL(seller.url).host)
    expect((await ended(getId(await pay(seller.url)))).record.state).toBe('settled')
  })

  test('asks for the first payment to a payee and for a payment without limits', async () => {
    const seller = await hostileSeller(respond)
    const asking = paymentsOfTest({ limits: { ask_first_payee: true } })
    const first = await asking.pay(seller.url)
    expect(first?.record).toMatchObject({ state: 'waiting', paid: null })
    await asking.approvals.decide(first?.record.intent_id ?? '', { approve: true, confirmed: true })
    await asking.ended(getId(first))
    expect((await asking.ended(getId(await asking.pay(seller.url)))).record.state).toBe('settled')
    const { engine, createRequest } = paymentsOfTest()
    const call = {
      requester: asking.read(getId(first))?.record.requester ?? never,
      repeatable: undefined,
      setHeader() {},
      signal: new AbortController().signal,
    }
    const bought = await engine.payments.buy(async () => createRequest(seller.url), call as never, {
      reason: undefined,
      waitMs: 0,
    })
    expect(bought.payment?.record.state).toBe('waiting')
  })

  test('rejects a host name that resolves to a loopback address', async () => {
    let looked = 0
    const rebinding = createPublicSeller({
      resolve: ((_: string, __: object, done: (error: null, addresses: object[]) => void) => {
        looked += 1
        done(null, [{ address: '127.0.0.1', family: 4 }])
      }) as never,
    })
    const request = { method: 'GET', url: 'https://rebind.example/', headers: {} }
    await expect(rebinding.ask(request)).rejects.toThrow('its name resolves to a private address')
    expect(looked).toBe(1)
    rebinding.close()
  })

  test('sends nothing if a rule denies the payment', async () => {
    const seller = await hostileSeller(respond)
    const { pay, records } = paymentsOfTest({ rules: [rule({ effect: 'deny' })] })
    expect((await pay(seller.url))?.record).toMatchObject({ state: 'refused', paid: false })
    expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 0, reserved: 0 })
    expect(seller.payments()).toEqual([])
  })
})

test('resends the same bytes after a restart', async () => {
  const file = `${temporaryFolder('payments')}/agent.sqlite`
  let isSilent = true
  const seller = await hostileSeller((sellerRequest, response) =>
    isSilent ? undefined : respond(sellerRequest, response),
  )
  const before = openPayments({ file })
  const id = getId(await before.pay(seller.url))
  await eventually(() => expect(seller.payments()).toHaveLength(1))
  await before.close()
  isSilent = false
  const after = paymentsOfTest({ file })
  expect((await after.ended(id)).record).toMatchObject({ state: 'settled', paid: true })
  expect([seller.payments().length, seller.signatures()]).toEqual([2, 1])
})

test('twenty requests with one Idempotency-Key make one payment', async () => {
  const seller = await hostileSeller(respond)
  const { pay, ended } = paymentsOfTest()
  const all = await Promise.all(Array.from({ length: 20 }, () => pay(seller.url, { key: 'once' })))
  expect(new Set(all.map(getId)).size).toBe(1)
  await ended(getId(all[0]))
  expect(seller.payments()).toHaveLength(1)
})

test.each([
  ['two minutes behind is paid', -100_000, undefined],
  ['an hour behind is refused', -3_600_000, '60 minutes ahead of'],
  ['an hour ahead is refused', 3_600_000, '60 minutes behind'],
])('handles a seller whose clock is %s', async (_, offsetMs, words) => {
  const nowMs = Date.parse('2026-11-25T12:00:00Z')
  const seller: Seller = {
    async ask() {
      const date = new Date(nowMs + offsetMs).toUTCString()
      const body = Buffer.from(JSON.stringify({ x402Version: 1, accepts: [createOffer()] }))
      return { status: 402, headers: { date }, body, truncated: false }
    },
    close() {},
  }
  const { pay, approvals } = paymentsOfTest({ now: () => nowMs, seller })
  const paid = pay('https://shop.example/report')
  if (words === undefined) await expect(paid).resolves.toMatchObject({ record: { host: 'shop.example' } })
  else {
    await expect(paid).rejects.toMatchObject({ code: 'purchase/clock', message: expect.stringContaining(words) })
    expect(approvals.list({ limit: 10 }).intents).toEqual([])
  }
})

const minuteMs = 60_000

test.each([
  ['agrees with this computer, not with the seller', -60 * minuteMs, 0, undefined],
  ['agrees with the seller, not with this computer', -60 * minuteMs, -60 * minuteMs, '60 minutes ahead of the network'],
  ['disagrees where the seller names no time', undefined, -25 * 60 * minuteMs, '1500 minutes ahead of the network'],
  ['does not answer where the seller names no time', undefined, undefined, undefined],
])('handles a network that %s', async (_, sellerMs, blockMs, words) => {
  const nowMs = Date.parse('2026-11-25T12:00:00Z')
  const seller: Seller = {
    async ask() {
      const headers: Record<string, string> =
        sellerMs === undefined ? {} : { date: new Date(nowMs + sellerMs).toUTCString() }
      const body = Buffer.from(JSON.stringify({ x402Version: 1, accepts: [createOffer()] }))
      return { status: 402, headers, body, truncated: false }
    },
    close() {},
  }
  const blockTimeMs = async () => (blockMs === undefined ? undefined : nowMs + blockMs)
  const { pay } = paymentsOfTest({ now: () => nowMs, seller, blockTimeMs })
  const paid = pay('https://shop.example/report')
  if (words === undefined) await expect(paid).resolves.toMatchObject({ record: { host: 'shop.example' } })
  else await expect(paid).rejects.toMatchObject({ code: 'purchase/clock', message: expect.stringContaining(words) })
})

describe('a signed payment whose service is unavailable', () => {
  const openUnsent = async (chain: () => AuthorizationState) => {
    let nowMs = Date.now()
    const seller = await hostileSeller(respond)
    const payments = paymentsOfTest({ chain, now: () => nowMs })
    const { engine, createRequest } = payments
    const call = { requester: script, repeatable: undefined, setHeader: () => {}, signal: new AbortController().signal }
    const request = { ...createRequest(seller.url, 10), via: 'service' } as const
    const { payment } = await engine.payments.buy(async () => request, call, { reason: undefined, waitMs: 0 })
    if (!payment) throw new Error('Nothing was signed.')
    const { id } = payment.record
    await engine.follow(id)
    expect(payments.read(id)).toMatchObject({ record: { state: 'unknown' }, attempts: 0 })
    return { ...payments, seller, id, passTime: (ms: number) => (nowMs += ms) }
  }
  let chain: AuthorizationState
  beforeEach(() => {
    chain = { state: 'unused', isFinal: false }
  })
  const ended = toEndedError(toRequesterPrincipal(script)).message

  test('is not sent after its requester ended and is released on expiry', async () => {
    const { principals, read, engine, records, seller, id, passTime } = await openUnsent(() => chain)
    principals.end(toRequesterPrincipal(script))
    expect(read(id)?.record).toMatchObject({ state: 'refused', paid: null, error: ended })
    expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 0, reserved: 10_000 })
    chain = never
    passTime(10 * 60_000)
    await engine.follow(id)
    expect(read(id)?.record).toMatchObject({ state: 'refused', paid: false, error: ended })
    expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 0, reserved: 0 })
    expect(seller.payments()).toEqual([])
  })

  test('counts as paid if the requester used its signature elsewhere', async () => {
    const { principals, read, engine, records, id, passTime } = await openUnsent(() => chain)
    principals.end(toRequesterPrincipal(script))
    chain = used
    passTime(10 * 60_000)
    await engine.follow(id)
    expect(read(id)?.record).toMatchObject({ state: 'reconciled', paid: true })
    expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 10_000, reserved: 0 })
  })
})
