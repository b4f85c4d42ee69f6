import { createHmac } from 'node:crypto'
import { base58 } from '@scure/base'
import { Mnemonic } from 'ethers'
import nacl from 'tweetnacl'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSolanaLookup } from '#agent/payments/authorizationLookup.ts'
import { createSolanaNode } from '#platform/solana/solanaNode.ts'
import { solanaNetworks } from '#shared/contract/networks.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { createLockableSigner } from '../support/fakes/lockableSigner.ts'
import { createMemoryKeys } from '../support/fakes/memoryKeys.ts'
import { type ShopOptions, solanaShop } from '../support/fakes/solanaShop.ts'
import { paymentsOfTest } from '../support/fixtures/openPayments.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { noLimits, passphrase } from '../support/processes/payingAgent.ts'
import { createRunningAgent } from '../support/processes/runningAgent.ts'
import type { Json } from '../support/processes/runningService.ts'

/** The wallet buys on a real Solana runtime, from a seller that uses the facilitator of the x402 library. */
const [mainnet] = solanaNetworks
const payer = createMemoryKeys().solana.address

type ShopFields = Partial<ShopOptions>

async function shop(fields: ShopFields = {}) {
  const created = await solanaShop({ payer, ...fields })
  onTestFinished(() => void created.close())
  return created
}

async function market(fields: ShopFields = {}) {
  const sold = await shop(fields)
  const { cluster, url } = sold
  const node = createSolanaNode({ network: mainnet, rpcUrl: cluster.url })
  onTestFinished(() => node.close())
  const now = fields.clock ?? Date.now
  const lookup = createSolanaLookup([node], now)
  const signer = createLockableSigner({ now, solanaBlockHash: () => node.latestBlockHash() })
  const payments = paymentsOfTest({ signer, now, chain: (authorization) => lookup.findState(authorization) })
  const buy = async () => {
    const payment = await payments.pay(url)
    if (!payment) throw new Error('Nothing was paid.')
    return payment.record.id
  }
  return { ...payments, ...sold, buy, signer }
}

describe.each([1, 2] as const)('version %s', (version) => {
  test('is verified and settled by their facilitator and moves the exact amount', async () => {
    const { buy, ended, cluster, payTo, records, payments } = await market({ version })
    const { record, answer } = await ended(await buy())
    expect(record, JSON.stringify(record)).toMatchObject({
      ...{ state: 'settled', paid: true, paid_micro_usd: 10_000, network: mainnet.id, from: payer, pay_to: payTo },
      transaction_url: `https://explorer.solana.com/tx/${record.transaction}`,
    })
    expect(answer?.status).toBe(200)
    expect([await cluster.balance(payer), await cluster.balance(payTo)]).toEqual([4_990_000n, 10_000n])
    expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 10_000, reserved: 0 })
    expect(records.findPayee(record.host, mainnet.id)).toBe(payTo)
    const payload = JSON.parse(Buffer.from(payments[0] ?? '', 'base64').toString('utf8'))
    expect(Object.keys(payload.payload)).toEqual(['transaction'])
  })
})

test('writes the seller’s memo to the transaction regardless of its length', async () => {
  const memo = `order 7 ${'é'.repeat(124)}`
  const { buy, ended, cluster } = await market({ extra: { memo } })
  expect((await ended(await buy())).record).toMatchObject({ state: 'settled', paid: true })
  expect(await cluster.balance(payer)).toBe(4_990_000n)
})

test('the chain confirms a payment that a seller settled but reported as refused', async () => {
  const created = await market({
    paid: async ({ payload }) => {
      await created.cluster.land(payload.transaction)
      return { status: 402 }
    },
  })
  const id = await created.buy()
  await created.ended(id)
  await eventually(async () => {
    await created.engine.follow(id)
    expect(created.read(id)?.record).toMatchObject({ paid: true, reconciled_by: 'chain' })
  })
  expect(created.records.sum({ sinceMs: 0 })).toEqual({ spent: 10_000, reserved: 0 })
  expect(created.signer.signatures()).toBe(1)
})

test('a refused payment counts until block and local clock expire, then cannot be settled', async () => {
  let nowMs = Date.now()
  const created = await market({ paid: async () => ({ status: 402 }), clock: () => nowMs })
  const id = await created.buy()
  await created.ended(id)
  const readOnHold = async () => {
    await created.engine.follow(id)
    return created.records.sum({ sinceMs: 0 }).reserved
  }
  nowMs += 10 * 60_000
  expect(await readOnHold()).toBe(10_000) // the block is not too old
  nowMs -= 10 * 60_000
  created.cluster.expire()
  expect(await readOnHold()).toBe(10_000) // not expired by the local clock
  nowMs += 10 * 60_000
  expect(await readOnHold()).toBe(0)
  expect(created.read(id)?.record).toMatchObject({ state: 'refused', paid: false })
  const { payload } = JSON.parse(Buffer.from(created.payments[0] ?? '', 'base64').toString('utf8'))
  await expect(created.cluster.land(payload.transaction)).rejects.toThrow()
  expect(await created.cluster.balance(payer)).toBe(5_000_000n)
})

test('a facilitator cannot change the transaction', async () => {
  const created = await market({
    async paid(payload, requirements) {
      const bytes = Buffer.from(payload.payload.transaction, 'base64')
      const index = bytes.indexOf(Buffer.from('0c1027000000000000', 'hex')) // TransferChecked of 10,000
      bytes.writeBigUInt64LE(5_000_000n, index + 1)
      await expect(created.cluster.land(bytes.toString('base64'))).rejects.toThrow()
      return created.settle(payload, requirements)
    },
  })
  expect((await created.ended(await created.buy())).record).toMatchObject({ state: 'settled', paid: true })
  expect(await created.cluster.balance(payer)).toBe(4_990_000n)
})

describe('the complete agent', () => {
  const phrase = 'test test test test test test test test test test test junk'
  const openMarket = async (fields: ShopFields & { rpc?: string } = {}) => {
    const dataFolder = temporaryFolder('solana-agent')
    const first = solanaAddress()
    const sold = await shop({ ...fields, payer: first })
    const agent = await createRunningAgent({ dataFolder, solanaRpc: fields.rpc ?? sold.cluster.url })
    onTestFinished(() => agent.close())
    await agent.wallet.addPhrase({ phrase, writtenDown: true, passphrase })
    const post = async (path: string, body: object) => (await agent.send(path, { body })).json
    const decide = async ({ payment }: Json) => {
      await post(`/local/intents/${payment.intent_id}/decision`, { approve: true })
      return (await agent.send(`/local/payments/${payment.id}?wait_ms=20000`)).json
    }
    return { ...sold, agent, post, decide, from: first }
  }

  test('checks a price, requests approval and signs and reports the payment', async () => {
    const { post, decide, cluster, url, from, agent } = await openMarket()
    const quote = await post('/local/payments/check', { url })
    expect(quote, JSON.stringify(quote)).toMatchObject({ chosen: 0, verdict: { effect: 'ask' } })
    const intent = await post('/local/payments/fetch', { url })
    expect(intent, JSON.stringify(intent)).toMatchObject({
      payment: { state: 'waiting', network_name: 'Solana', from },
    })
    const paid = await decide(intent)
    expect(paid, JSON.stringify(paid)).toMatchObject({ state: 'settled', paid: true, sentence: '0.01 USDC was paid.' })
    expect(await cluster.balance(from)).toBe(4_990_000n)
    const { json } = await agent.send('/local/payments/budgets')
    expect(JSON.stringify(json)).toContain(paid.pay_to)
  })

  test('enforces the limit of a payee with a case-sensitive address', async () => {
    const { post, agent, url, payTo, payments } = await openMarket()
    const limits = { ...noLimits, payees: [{ payee: `${mainnet.id}:${payTo}`, month_micro_usd: 5_000 }] }
    const set = await agent.send('/local/payments/budgets', { method: 'PUT', body: limits })
    expect(set.status, set.text).toBe(200)
    expect(await post('/local/payments/fetch', { url })).toMatchObject({ code: 'budget/exceeded' })
    expect(payments).toEqual([])
  })

  test('signs nothing and reports the error if the node does not respond', async () => {
    const { post, decide, url, payments } = await openMarket({ rpc: 'http://127.0.0.1:9' })
    const paid = await decide(await post('/local/payments/fetch', { url }))
    expect(paid).toMatchObject({ state: 'refused', paid: false, error: '127.0.0.1:9 cannot be reached.' })
    expect(payments).toEqual([])
  })

  /** Derives the address with a different library than the product. */
  function solanaAddress(): string {
    let [key, code] = halves(hmac('ed25519 seed', Mnemonic.fromPhrase(phrase).computeSeed()))
    for (const index of [44, 501, 0, 0]) {
      const amount = Buffer.alloc(4)
      amount.writeUInt32BE(0x80000000 + index)
      ;[key, code] = halves(hmac(code, `0x${Buffer.concat([Uint8Array.of(0), key, amount]).toString('hex')}`))
    }
    return base58.encode(nacl.sign.keyPair.fromSeed(key).publicKey)
  }
})

function hmac(key: string | Uint8Array, data: string): Buffer {
  return createHmac('sha512', key)
    .update(Buffer.from(data.slice(2), 'hex'))
    .digest()
}
function halves(bytes: Buffer): [Buffer, Buffer] {
  return [bytes.subarray(0, 32), bytes.subarray(32)]
}
