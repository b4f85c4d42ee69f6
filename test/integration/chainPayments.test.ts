import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { evmNetworks } from '#shared/contract/networks.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { type ConwayTerminal, createConwayTerminal } from '../support/clients/conwayTerminal.ts'
import { createPayer, lowerCase, type Payer, paymentHeader } from '../support/clients/payer.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { evmFacilitator } from '../support/fakes/evmFacilitator.ts'
import { createFaultyNode, type Trouble } from '../support/fakes/faultyNode.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import type { Json } from '../support/processes/runningService.ts'
import { createServiceProcess, type ServiceProcess } from '../support/processes/serviceProcess.ts'
import { realRegistrar } from '../support/registrars/realRegistrar.ts'

/**
 * Service process that sells on a real EVM node. Independent clients pay, and the process is killed at arbitrary
 * points.
 */
const [base] = evmNetworks
const payTo = '0x2222222222222222222222222222222222222222'
const price = 5_000_000
/** Price of one year of .com at the test registry. */
const domainPrice = 13_950_000
let chain: Awaited<ReturnType<typeof evmFacilitator>>
/** Node as seen by the service. */
let node: Awaited<ReturnType<typeof createFaultyNode>>
let service: ServiceProcess
let registrar: Awaited<ReturnType<typeof realRegistrar>>
const wallet = evmWallet()
let path: string

beforeAll(async () => {
  chain = await evmFacilitator(base)
  registrar = await realRegistrar()
  node = await createFaultyNode(chain.node.url)
  const keyFile = join(temporaryFolder('relayer'), 'relayer.key')
  writeFileSync(keyFile, `${chain.relayerKey}\n`, { mode: 0o600 })
  service = await createServiceProcess(undefined, {
    payments: { network: 'base', pay_to: payTo, facilitator: { rpc_url: node.url, relayer_key_file: keyFile } },
    domains: registrar.config,
  })
  await wallet.signIn(service.url)
  path = `/pay/5/${wallet.address}`
})
afterAll(async () => {
  await service?.close()
  await registrar?.close()
  await node?.close()
  await chain?.close()
})

async function rich(atomic = 2 * price): Promise<Payer> {
  const buyer = createPayer(base)
  await chain.give(buyer.address, atomic)
  return buyer
}
let names = 0
const fresh = () => `chain-${++names}.com`
const onBase = { network: base.id, asset: base.usdc.address }
/** Creates an order of a domain for one year, and a payment for it. */
async function order(fields: Parameters<Payer['authorize']>[0] | object = {}, atomic = domainPrice) {
  const buyer = await rich(atomic)
  const signed = await buyer.authorize({ to: payTo, value: String(domainPrice), ...fields })
  node.watch(signed.nonce)
  const body = { domain: fresh() }
  const headers = paymentHeader(2, signed, onBase)
  const buy = (fields: Parameters<ServiceProcess['send']>[1] = {}) =>
    service.send('/domains/register', { body, headers, ...fields })
  return { one: buyer, ...body, nonce: signed.nonce, buy }
}
async function countPurchases(domain: string): Promise<number> {
  const { transactions } = (await service.send('/transactions')).json
  return transactions.filter(
    (transaction: Json) => transaction.domainId === domain && transaction.type === 'registration',
  ).length
}
const createHeader = async (buyer: Payer, version: 1 | 2 = 2) =>
  paymentHeader(version, await buyer.authorize({ to: payTo, value: String(price) }), {
    network: version === 1 ? 'base' : base.id,
    asset: base.usdc.address,
  })
const pay = (headers: Record<string, string>) => service.send(path, { key: null, headers })
const readCredits = async (owner = wallet) =>
  (await service.send('/v1/credits/balance', { key: (await owner.signIn(service.url)).json.access_token })).json
    .balance_cents

test('@x402/fetch buys credits and changes balances by the exact amount', async () => {
  const ada = await rich()
  const [paid, credited] = [await chain.balance(payTo), await readCredits()]
  const fetching = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: base.id, client: new ExactEvmScheme(ada.account) }],
    spendControls: false, // the amount exceeds the client's default limit
  })
  const answer = await fetching(`${service.url}${path}`)
  expect([answer.status, ((await answer.json()) as Json).credits_cents]).toEqual([200, 500])
  expect([await chain.balance(ada.address), (await chain.balance(payTo)) - paid]).toEqual([price, price])
  expect((await readCredits()) - credited).toBe(500)
})

test('@x402/fetch buys a domain and changes balances by the exact amount', async () => {
  const ada = await rich(domainPrice + 3)
  const paid = await chain.balance(payTo)
  const domain = fresh()
  const fetching = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: base.id, client: new ExactEvmScheme(ada.account) }],
    spendControls: false,
  })
  const headers = { 'x-api-key': service.key, 'content-type': 'application/json' }
  const body = JSON.stringify({ domain })
  const answer = await fetching(`${service.url}/domains/register`, { method: 'POST', headers, body })
  expect([answer.status, ((await answer.json()) as Json).domain]).toEqual([201, domain])
  expect([await chain.balance(ada.address), (await chain.balance(payTo)) - paid]).toEqual([3, domainPrice])
  expect(await countPurchases(domain)).toBe(1)
})

test('a published x402 version 1 client buys credits and a domain with its own tools', async () => {
  const program: ConwayTerminal = createConwayTerminal({
    home: temporaryFolder('conway-home'),
    serviceUrl: service.url,
  })
  const { walletAddress, apiKey } = await program.provision()
  await chain.give(walletAddress, price + domainPrice)
  const domain = fresh()
  const tools = await program.connect()
  try {
    const answer = JSON.parse(await tools.call('credits_topup', { amount_usd: 5 }))
    expect(answer).toMatchObject({ success: true, credits_cents: 500, recipient_address: walletAddress })
    expect(await chain.balance(walletAddress)).toBe(domainPrice)
    const bought = JSON.parse(await tools.call('domain_register', { domain }))
    expect(bought).toMatchObject({ success: true, domain })
    expect(await chain.balance(walletAddress)).toBe(0)
    expect((await service.send('/v1/credits/balance', { key: apiKey })).json.balance_cents).toBe(500)
  } finally {
    await tools.close()
  }
})

test('accepts the version 1 network name and rejects a nonce used on the chain', async () => {
  const ada = await rich()
  expect((await pay(await createHeader(ada, 1))).status).toBe(200)
  const authorization = lowerCase(await ada.authorize({ to: payTo, value: String(price) }))
  const { state } = await chain.facilitator.settle({ authorization, createdAtMs: Date.now(), again: false })
  expect(state).toBe('settled')
  const used = await pay(paymentHeader(2, authorization, { network: base.id, asset: base.usdc.address }))
  expect([used.status, used.json.reason]).toEqual([402, 'invalid_exact_evm_nonce_already_used'])
})

test('settles and credits a payment once if killed while its transaction is pending', async () => {
  const ada = await rich()
  const credited = await readCredits()
  const header = await createHeader(ada)
  await chain.node.client.setAutomine(false)
  const cut = pay(header).catch(() => undefined)
  await eventually(async () => {
    const { pending } = await chain.node.client.getTxpoolStatus()
    expect(Number(pending)).toBe(1)
  })
  await service.restart('SIGKILL')
  await cut
  await chain.node.client.mine({ blocks: 1 })
  await chain.node.client.setAutomine(true)
  await eventually(async () => expect((await pay(header)).status).toBe(200))
  expect(await chain.balance(ada.address)).toBe(price)
  expect((await readCredits()) - credited).toBe(500)
})

test('settles and credits each of many payments once if killed at any moment', async () => {
  const credited = await readCredits()
  const payers: Payer[] = []
  for (let count = 0; count < 8; count++) payers.push(await rich())
  const headers = await Promise.all(payers.map((buyer) => createHeader(buyer)))
  for (let round = 0; round < 3; round++) {
    const requests = headers.map((header) => pay(header).catch(() => undefined))
    await Promise.race(requests)
    await service.restart('SIGKILL')
    await Promise.all(requests)
  }
  for (const header of headers) await eventually(async () => expect((await pay(header)).status).toBe(200))
  for (const buyer of payers) expect(await chain.balance(buyer.address)).toBe(price)
  expect((await readCredits()) - credited).toBe(8 * 500)
})

describe('a payment on a chain', () => {
  const now = () => Math.floor(Date.now() / 1000)
  test.each([
    ['to somebody else', { to: `0x${'7'.repeat(40)}` }, 'recipient_mismatch'],
    ['of less', { value: String(domainPrice - 1) }, 'authorization_value'],
    ['that has expired', { validBefore: String(now() - 1) }, 'authorization_valid_before'],
    ['signed by another key', { signature: `0x${'1'.repeat(128)}1b` }, 'signature'],
  ])('%s is refused with its reason and transfers no funds', async (_, change, reason) => {
    const { one, buy } = await order(change)
    const { status, json } = await buy()
    expect([status, json.reason]).toEqual([402, `invalid_exact_evm_payload_${reason}`])
    expect(await chain.balance(one.address)).toBe(domainPrice)
  })

  test('is refused without sufficient funds and succeeds after funding', async () => {
    const { one, domain, buy } = await order({}, 1)
    const { status, json } = await buy()
    expect([status, json.reason]).toEqual([402, 'insufficient_funds'])
    await chain.give(one.address, domainPrice - 1)
    expect((await buy()).status).toBe(201)
    expect([await chain.balance(one.address), await countPurchases(domain)]).toEqual([0, 1])
  })

  test('is accepted only from the signed-in wallet and for its own request', async () => {
    const { domain, buy } = await order()
    const { access_token: key } = (await evmWallet().signIn(service.url)).json
    const foreign = await buy({ key })
    expect([foreign.status, foreign.json.code]).toEqual([403, 'payments/wallet'])
    expect((await buy()).status).toBe(201)
    const secondResponse = await buy({ body: { domain: fresh() } })
    expect([secondResponse.status, secondResponse.json.code]).toEqual([409, 'payments/used'])
    expect(await countPurchases(domain)).toBe(1)
  })

  test('settles once and buys one domain when sent 50 times', async () => {
    const { one, domain, nonce, buy } = await order({}, 3 * domainPrice)
    const answers = await Promise.all(Array.from({ length: 50 }, () => buy()))
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toContain(201)
    expect(statuses.every((status) => status === 201 || status === 409)).toBe(true)
    const hashes = answers.flatMap(({ status, json }) => (status === 201 ? [json.transaction_id] : []))
    expect(new Set(hashes).size).toBe(1)
    expect([await chain.balance(one.address), node.sent(nonce), await countPurchases(domain)]).toEqual([
      2 * domainPrice,
      1,
      1,
    ])
  })

  test.each<[string, Trouble]>([
    ['before it has the transaction', { how: 'cut', passed: false }],
    ['after it took the transaction', { how: 'cut', passed: true }],
  ])('has an unknown outcome if the node fails %s and succeeds on retry', async (_, trouble) => {
    const { one, domain, nonce, buy } = await order({}, 2 * domainPrice)
    let hasFailed = false
    node.meets((of, method) => {
      if (of === nonce && method === 'eth_sendRawTransaction') hasFailed = true
      return hasFailed ? (method === 'eth_sendRawTransaction' ? trouble : { how: 'cut', passed: false }) : undefined
    })
    const { status, json, headers } = await buy()
    expect([status, json.code, headers['retry-after']]).toEqual([503, 'payments/unknown', '5'])
    expect(await countPurchases(domain)).toBe(0)
    node.meets(undefined)
    await eventually(async () => expect((await buy()).status).toBe(201))
    expect([await chain.balance(one.address), await countPurchases(domain)]).toEqual([domainPrice, 1])
  })
})

/** One kill affects several payments, each suspended at a different step. */
test.each<[string, Record<string, boolean>]>([
  ['it verifies, prepares, sends, or waits for a receipt', createHoldFlags('sendRawTransaction')],
  ['it has sent, and was not told so', { ...createHoldFlags('call'), eth_sendRawTransaction: true }],
])('buys one domain per payment and charges it once if killed while %s', async (_, steps) => {
  // The last one suspends the relayer, which blocks all later payments.
  const pending: { step: string; order: Awaited<ReturnType<typeof order>>; answer: Promise<unknown> }[] = []
  for (const step of Object.keys(steps)) {
    const it = await order({}, 2 * domainPrice)
    const findStep = (nonce: string) => pending.find(({ order }) => order.nonce === nonce)?.step ?? step
    node.meets((nonce, method) =>
      nonce !== '' && findStep(nonce) === method ? { how: 'hold', passed: steps[method] ?? false } : undefined,
    )
    pending.push({ step, order: it, answer: it.buy().catch(() => undefined) })
    await eventually(() => expect(node.isHeld(it.nonce), step).toBe(true))
    const copy = await it.buy()
    expect([copy.status, copy.json.code]).toEqual([409, 'payments/in-flight'])
  }
  await service.restart('SIGKILL')
  await Promise.all(pending.map(({ answer }) => answer))
  node.meets(undefined)
  for (const { step, order } of pending) {
    await eventually(async () => expect((await order.buy()).status, step).toBe(201))
    expect([await chain.balance(order.one.address), await countPurchases(order.domain)], step).toEqual([domainPrice, 1])
  }
})

function createHoldFlags(last: string): Record<string, boolean> {
  const methods = ['eth_getTransactionReceipt', 'eth_estimateGas', 'eth_call', `eth_${last}`]
  return Object.fromEntries(methods.map((method) => [method, false]))
}
