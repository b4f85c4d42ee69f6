import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas'
import { ExactEvmScheme } from '@x402/evm'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testLedgerNetwork } from '#shared/contract/networks.ts'
import { createPayer, lowerCase, type Payer, paymentHeader } from '../support/clients/payer.ts'
import { evmWallet, solanaWallet } from '../support/clients/wallets.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { exchange, type Json, runningService, type TestService } from '../support/processes/runningService.ts'
import { startSupervisedService } from '../support/processes/startSupervisedService.ts'

/** Sales by x402 at the embedded service, paid with test money. */
let service: TestService
const wallet = evmWallet()
let path: string
let payTo: `0x${string}`

beforeAll(async () => {
  service = await runningService({ host: 'none', payments: { facilitator: { kind: 'test-ledger' } } })
  await wallet.signIn(service.url)
  path = `/pay/5/${wallet.address}`
  const { json } = await service.send(path, { key: null })
  payTo = json.accepts[0].payTo
})
afterAll(() => service?.close())

const price = 5_000_000
const give = (address: string) => service.send('/v1/payments/faucet', { body: { address } })
const money = async (address: string) => Number((await service.send(`/v1/payments/balance/${address}`)).json.balance)
const readCredits = async (holder: Signed) =>
  (await service.send('/v1/credits/balance', { key: holder.token })).json.balance_cents
type Signed = { token: string }
const signIn = async (signer = wallet): Promise<Signed> => ({
  token: (await signer.signIn(service.url)).json.access_token,
})
const pay = (headers: Record<string, string>, target = path, key: string | null = null) =>
  service.send(target, { key, headers })
async function rich(): Promise<Payer> {
  const buyer = createPayer()
  await give(buyer.address)
  return buyer
}
const fromBase64 = (text: unknown): Json => JSON.parse(Buffer.from(String(text), 'base64').toString('utf8'))

describe('a payment requirement', () => {
  test('is returned in all three forms, which the x402 library parses', async () => {
    const { status, json, headers } = await service.send(path, { key: null })
    expect(status).toBe(402)
    expect(PaymentRequiredV1Schema.safeParse(json).error).toBeUndefined()
    expect(json).toMatchObject({
      x402Version: 1,
      code: 'payments/required',
      accepts: [
        { scheme: 'exact', network: 'eip155:31337', maxAmountRequired: '5000000', resource: `${service.url}${path}` },
      ],
    })
    const second = fromBase64(headers['payment-required'])
    expect(PaymentRequiredV2Schema.safeParse(second).error).toBeUndefined()
    expect(second.accepts[0]).toMatchObject({ amount: '5000000', network: 'eip155:31337', payTo })
    expect(fromBase64(headers['x-payment-required']).accepts).toEqual(json.accepts)
    expect(headers['cache-control']).toBe('no-store')
    expect(JSON.stringify(json)).not.toContain('outputSchema')
  })

  test('is listed by the discovery endpoints', async () => {
    const { status, json } = await service.send('/.well-known/x402', { key: null })
    expect([status, json.version]).toEqual([200, 1])
    expect(json.resources).toEqual(
      expect.arrayContaining([
        `${service.url}/pay/{amount_usd}/{address}`,
        `${service.url}/domains/register`,
        `${service.url}/v1/domains/{domain}/renew`,
      ]),
    )
    const { paths } = (await service.send('/openapi.json', { key: null })).json
    const sold = Object.entries<Json>(paths).filter(([, operations]) =>
      Object.values<Json>(operations).some((operation) => operation['x-payment-info']?.protocols.includes('x402')),
    )
    expect(sold.map(([path]) => `${service.url}${path}`).sort()).toEqual(json.resources.toSorted())
  })

  test('is returned for HEAD, which never pays', async () => {
    const ada = await rich()
    const signed = await ada.authorize({ to: payTo, value: String(price) })
    const answer = await service.send(path, { key: null, method: 'HEAD', headers: paymentHeader(1, signed) })
    expect(answer.status).toBe(402)
    expect(fromBase64(answer.headers['x-payment-required']).accepts).toHaveLength(1)
    expect(await money(ada.address)).toBe(100_000_000)
  })

  test('is returned only for offered amounts and existing accounts', async () => {
    expect((await service.send(`/pay/6/${wallet.address}`, { key: null })).json.code).toBe('payments/tier')
    expect((await service.send(`/pay/5/0x${'9'.repeat(40)}`, { key: null })).json.code).toBe(
      'credits/recipient-not-found',
    )
    expect((await service.send('/pay/five/x', { key: null })).status).toBe(400)
  })

  test('cannot have a mistyped address', async () => {
    const payTo = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914'
    const start = runningService({ host: 'none', payments: { payTo, facilitator: { kind: 'test-ledger' } } })
    await expect(start).rejects.toThrow(/`payments.pay_to`.* its checksum is wrong/)
  })

  test('is in test money on the unconfigured embedded service', async () => {
    const embedded = startSupervisedService(temporaryFolder('embedded'))
    try {
      await embedded.start()
      const { url, key } = embedded.target
      const me = await exchange(url, '/v1/auth/me', { key })
      const { status, json } = await exchange(url, `/pay/5/${me.json.id}`, { key: null })
      expect([status, json.accepts[0].network]).toEqual([402, 'eip155:31337'])
    } finally {
      await embedded.close()
    }
  })

  test('is not returned by a service without payments', async () => {
    const otherService = await runningService({ host: 'none' })
    try {
      const { status, json } = await otherService.send(path, { key: null })
      expect({ status, code: json.code }).toEqual({ status: 503, code: 'payments/unconfigured' })
      const discovery = await otherService.send('/.well-known/x402', { key: null })
      expect([discovery.status, discovery.json.code]).toEqual([503, 'payments/unconfigured'])
      expect((await otherService.send('/v1/payments/faucet', { body: { address: wallet.address } })).status).toBe(404)
    } finally {
      await otherService.close()
    }
  })
})

describe('credits', () => {
  test('are bought by @x402/fetch, version 2', async () => {
    const ada = await rich()
    const holder = await signIn()
    const before = await readCredits(holder)
    const fetching = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: testLedgerNetwork.id, client: new ExactEvmScheme(ada.account) }],
      spendControls: false, // the client does not recognize the asset of a test ledger
    })
    const answer = await fetching(`${service.url}${path}`)
    expect(answer.status).toBe(200)
    const json = (await answer.json()) as Json
    expect(json).toEqual({ success: true, credits_cents: 500, tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    expect(decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '')).toMatchObject({
      ...{ success: true, transaction: json.tx_hash, network: 'eip155:31337' },
      payer: ada.address.toLowerCase(),
    })
    expect(fromBase64(answer.headers.get('x-payment-response'))).toMatchObject({ success: true })
    expect(await money(ada.address)).toBe(100_000_000 - price)
    expect(await readCredits(holder)).toBe(before + 500)
    const history = await service.send('/v1/credits/history', { key: holder.token })
    expect(history.json.transactions[0]).toMatchObject({ type: 'top_up', amount_cents: 500 })
  })

  test.each([1, 2] as const)(
    'are bought by a version %i client and a repetition returns the same response',
    async (version) => {
      const ada = await rich()
      const header = paymentHeader(version, await ada.authorize({ to: payTo, value: `000${price}` }))
      const first = await pay(header)
      expect(first.status).toBe(200)
      const again = await pay(header)
      expect([again.json, again.headers['payment-response']]).toEqual([first.json, first.headers['payment-response']])
      expect(await money(ada.address)).toBe(100_000_000 - price)
    },
  )

  test('are bought with plain JSON in the header', async () => {
    const ada = await rich()
    const [encoded = ''] = Object.values(paymentHeader(1, await ada.authorize({ to: payTo, value: String(price) })))
    const plain = JSON.stringify(fromBase64(encoded))
    expect((await pay({ 'x-payment': plain })).status).toBe(200)
  })

  test('are bought once by 50 copies of one payment', async () => {
    const ada = await rich()
    const holder = await signIn()
    const before = await readCredits(holder)
    const header = paymentHeader(2, await ada.authorize({ to: payTo, value: String(price) }))
    const answers = await Promise.all(Array.from({ length: 50 }, () => pay(header)))
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses].every((status) => status === 200 || status === 409)).toBe(true)
    const hashes = answers.filter(({ status }) => status === 200).map(({ json }) => json.tx_hash)
    expect(new Set(hashes).size).toBe(1)
    expect(await money(ada.address)).toBe(100_000_000 - price)
    expect(await readCredits(holder)).toBe(before + 500)
    for (const { status, headers, json } of answers) {
      if (status === 409) expect([json.code, headers['retry-after']]).toEqual(['payments/in-flight', '1'])
    }
  })
})

test('200 concurrent payments are settled and credited once each', async () => {
  const holder = await signIn()
  const before = await readCredits(holder)
  const payers = await Promise.all(Array.from({ length: 20 }, rich))
  const all = payers.flatMap((buyer) =>
    Array.from({ length: 10 }, () => buyer.authorize({ to: payTo, value: String(price) })),
  )
  const headers = (await Promise.all(all)).map((signed) => paymentHeader(2, signed))
  const answers = await Promise.all(headers.map((header) => pay(header)))
  expect(new Set(answers.map(({ json }) => json.tx_hash)).size).toBe(200)
  expect(await readCredits(holder)).toBe(before + 200 * 500)
  for (const { address } of payers) expect(await money(address)).toBe(50_000_000)
})

describe('an invalid payment', () => {
  const now = () => Math.floor(Date.now() / 1000)
  test.each([
    ['to somebody else', { to: `0x${'7'.repeat(40)}` as const }, 'recipient_mismatch'],
    ['of less', { value: String(price - 1) }, 'authorization_value'],
    ['of more', { value: String(price + 1) }, 'authorization_value'],
    ['of nothing', { value: '0' }, 'authorization_value'],
    ['that has expired', { validBefore: String(now() - 1) }, 'authorization_valid_before'],
    ['that expires while it is settled', { validBefore: String(now() + 2) }, 'authorization_valid_before'],
    ['that is not valid yet', { validAfter: String(now() + 600) }, 'authorization_valid_after'],
    ['of a contract wallet', { signature: `0x${'ab'.repeat(200)}` as const }, 'signature'],
    ['with half a signature', { signature: `0x${'ab'.repeat(32)}` as const }, 'signature'],
  ])('%s is refused with its reason and transfers no funds', async (_, change, reason) => {
    const ada = await rich()
    const signed = await ada.authorize({ to: payTo, value: String(price), ...change })
    for (const version of [1, 2] as const) {
      const { status, json, headers } = await pay(paymentHeader(version, signed))
      expect([status, json.code]).toEqual([402, 'payments/required'])
      expect(json.reason).toBe(`invalid_exact_evm_payload_${reason}`)
      expect(fromBase64(headers['payment-required']).error).toBe(json.reason)
    }
    expect(await money(ada.address)).toBe(100_000_000)
  })

  test('signed by another key, changed after signing or with a malleable signature is rejected', async () => {
    const [ada, eve] = [await rich(), createPayer()]
    const signed = await ada.authorize({ to: payTo, value: String(price) })
    const { signature } = await eve.authorize({
      to: payTo,
      value: String(price),
      from: ada.address,
      nonce: signed.nonce,
    })
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = order - BigInt(`0x${signed.signature.slice(66, 130)}`)
    const v = signed.signature.slice(130) === '1b' ? '1c' : '1b'
    const twin = `${signed.signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}` as const
    for (const changed of [
      { ...signed, signature },
      { ...signed, validBefore: String(Number(signed.validBefore) + 1) },
      { ...signed, nonce: `0x${'1'.repeat(64)}` as const },
      { ...signed, signature: twin as `0x${string}` },
    ]) {
      expect((await pay(paymentHeader(2, changed))).json.reason).toBe('invalid_exact_evm_payload_signature')
    }
    expect((await pay(paymentHeader(2, signed))).status).toBe(200)
    expect((await pay(paymentHeader(2, { ...signed, signature: twin as `0x${string}` }))).json.code).toBe(
      'payments/used',
    )
  })

  test('counts as one payment with either encoding of the last signature byte', async () => {
    const ada = await rich()
    const signed = await ada.authorize({ to: payTo, value: String(price) })
    const otherSignature =
      `${signed.signature.slice(0, 130)}${signed.signature.endsWith('1b') ? '00' : '01'}` as `0x${string}`
    const first = await pay(paymentHeader(1, { ...signed, signature: otherSignature }))
    expect(first.status).toBe(200)
    expect((await pay(paymentHeader(2, lowerCase(signed)))).json).toEqual(first.json)
    expect(await money(ada.address)).toBe(100_000_000 - price)
  })

  test('without sufficient funds is rejected and can be retried after funding', async () => {
    const ada = createPayer()
    const header = paymentHeader(2, await ada.authorize({ to: payTo, value: String(price) }))
    expect((await pay(header)).json.reason).toBe('insufficient_funds')
    await give(ada.address)
    expect((await pay(header)).status).toBe(200)
  })

  test('for another network, asset or scheme is rejected', async () => {
    const ada = await rich()
    const signed = await ada.authorize({ to: payTo, value: String(price) })
    const readReason = async (fields: Parameters<typeof paymentHeader>[2]) =>
      (await pay(paymentHeader(2, signed, fields))).json.reason
    expect(await readReason({ network: 'base' })).toBe('invalid_network')
    expect(await readReason({ scheme: 'upto' })).toBe('unsupported_scheme')
    expect(await readReason({ asset: `0x${'1'.repeat(40)}` })).toBe('invalid_asset')
  })

  test.each([
    ['no base64', '!!!'],
    ['no JSON', Buffer.from('hello').toString('base64')],
    ['not an object', Buffer.from('[1]').toString('base64')],
    ['of version 3', Buffer.from('{"x402Version":3}').toString('base64')],
    ['without a payload', Buffer.from('{"x402Version":1,"scheme":"exact","network":"base"}').toString('base64')],
    ['empty', ''],
    ['far too long', 'A'.repeat(9000)],
    ['nested deeply', `{"x402Version":1,"a":${'['.repeat(3000)}${']'.repeat(3000)}}`],
  ])('header is rejected: %s', async (_, text) => {
    for (const name of ['x-payment', 'payment-signature']) {
      const { status, json } = await pay({ [name]: text })
      expect([status, json.code]).toEqual([400, 'payments/malformed'])
    }
  })

  test('with invalid numbers or a second payment cannot be parsed', async () => {
    const ada = await rich()
    const signed = await ada.authorize({ to: payTo, value: String(price) })
    for (const value of ['-5', '5e6', '0x10', '1.5', '', String(2n ** 256n)]) {
      expect((await pay(paymentHeader(1, { ...signed, value }))).json.code).toBe('payments/malformed')
    }
    const otherPayment = await ada.authorize({ to: payTo, value: String(price) })
    expect((await pay({ ...paymentHeader(1, signed), ...paymentHeader(2, otherPayment) })).json.code).toBe(
      'payments/malformed',
    )
    expect(await money(ada.address)).toBe(100_000_000)
  })

  test('with oversized headers returns 431', async () => {
    expect((await fetch(service.url + path, { headers: { 'x-payment': 'A'.repeat(40_000) } })).status).toBe(431)
  })
})

describe('a used payment', () => {
  test('cannot be reused for another amount, account or path', async () => {
    const ada = await rich()
    const header = paymentHeader(2, await ada.authorize({ to: payTo, value: String(price) }))
    expect((await pay(header)).status).toBe(200)
    const otherWallet = evmWallet()
    await otherWallet.signIn(service.url)
    for (const target of [`/pay/5/${otherWallet.address}`, `/pay/25/${wallet.address}`, `${path}?x=1`]) {
      const { status, json } = await pay(header, target)
      expect([status, json.code]).toEqual([409, 'payments/used'])
    }
    expect(await money(ada.address)).toBe(100_000_000 - price)
  })

  test('must come from the signed-in wallet', async () => {
    const ada = await rich()
    const signed = await ada.authorize({ to: payTo, value: String(price) })
    const { token } = await signIn()
    const refused = await pay(paymentHeader(2, signed), path, token)
    expect([refused.status, refused.json.code]).toEqual([403, 'payments/wallet'])
    const sol = solanaWallet()
    const otherToken = (await sol.signIn(service.url)).json.access_token
    expect((await pay(paymentHeader(2, signed), path, otherToken)).status).toBe(403)
    expect((await pay(paymentHeader(2, signed))).status).toBe(200)
  })
})

test('only the owner can create test money, not a key with limits', async () => {
  const { token } = await signIn()
  const body = { address: wallet.address }
  expect((await service.send('/v1/payments/faucet', { body, key: token })).status).toBe(403)
  const limited = await service.send('/v1/auth/api-keys', { body: { name: 'x', daily_limit_cents: 5 } })
  expect((await service.send('/v1/payments/faucet', { body, key: limited.json.key })).status).toBe(403)
  expect((await give(wallet.address)).json).toMatchObject({ amount: '100000000', network: 'eip155:31337' })
})
