import { generateKeyPairSync } from 'node:crypto'
import { jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { parseCdpKey } from '#config/cdpKey.ts'
import { createHttpClient } from '#platform/http/httpClient.ts'
import { silentLog } from '#platform/logging/log.ts'
import type { CdpKey } from '#service/payments/cdpToken.ts'
import { createRemoteFacilitator } from '#service/payments/remoteFacilitator.ts'
import { createTestLedgerFacilitator } from '#service/payments/testLedgerFacilitator.ts'
import { evmNetworks } from '#shared/contract/networks.ts'
import { createPayer, lowerCase } from '../support/clients/payer.ts'
import { evmFacilitator } from '../support/fakes/evmFacilitator.ts'
import { strictFacilitator, type Trouble } from '../support/fakes/strictFacilitator.ts'
import { testLedger } from '../support/fixtures/testLedger.ts'
import { facilitatorContract } from './facilitator.ts'

const [base] = evmNetworks
const payTo = '0x2222222222222222222222222222222222222222'
const price = 2_000_000

facilitatorContract('the ledger of test money', async () => {
  const { data, close } = await testLedger()
  const facilitator = createTestLedgerFacilitator({ store: data, now: Date.now })
  return {
    facilitator,
    give: async (address, atomic) => void (await facilitator.give(address, atomic)),
    balance: async (address) => facilitator.balance(address),
    close,
  }
})

facilitatorContract('a chain', () => evmFacilitator(base))

const remote = async (options: { settleWithinMs?: number; cdpKey?: CdpKey | undefined } = {}) => {
  const server = await strictFacilitator(base)
  const http = createHttpClient({ maxAnswerBytes: 10_000 })
  const facilitator = createRemoteFacilitator({
    ...{ network: base, url: server.url, chain: undefined, http, log: silentLog, now: Date.now },
    ...options,
  })
  return {
    server,
    facilitator,
    expiredState: 'unknown' as const,
    give: async (address: string, atomic: number) => server.add(address, atomic),
    balance: async (address: string) => server.balance(address),
    async close() {
      await facilitator.close()
      await server.close()
    },
  }
}
facilitatorContract('a facilitator elsewhere', () => remote())

test.each<[string, Trouble['how']]>([
  ['does not come', 'silent'],
  ['is cut off', 'cut'],
  ['is 503', 503],
  ['is no JSON', 'no-json'],
  ['serves another network', 'other-network'],
  ['is of another payer', 'other-payer'],
  ['names no transaction', 'no-hash'],
  ['says that it does not know', { says: 'unexpected_settle_error' }],
  ['says that it was used', { says: 'invalid_exact_evm_nonce_already_used' }],
  ['says that the transaction is in a wrong state', { says: 'invalid_transaction_state' }],
  ['says that the simulation failed', { says: 'invalid_exact_evm_transaction_simulation_failed' }],
  ['says a word of its own', { says: 'no' }],
])('reports an unknown outcome when the response of a remote facilitator %s', async (_, how) => {
  const { server, facilitator, close } = await remote(how === 'silent' ? { settleWithinMs: 300 } : {})
  try {
    for (const moves of how === 'other-payer' ? [true] : [true, false]) {
      const ada = createPayer(base)
      server.add(ada.address, price)
      const authorization = lowerCase(await ada.authorize({ to: payTo, value: String(price) }))
      const payment = { authorization, createdAtMs: Date.now(), again: false }
      server.meets({ moves, how })
      expect((await facilitator.settle(payment)).state).toBe('unknown')
      server.meets(undefined)
      const again = await facilitator.settle({ ...payment, again: true })
      // A settled payment is rejected as used, which is not an error. An unsettled payment settles now.
      expect(again.state).toBe(moves ? 'unknown' : 'settled')
      expect(server.balance(ada.address)).toBe(0)
    }
  } finally {
    await close()
  }
})

test('sends a token with each request to the Coinbase facilitator only', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const key = parseCdpKey('key-1', privateKey.export({ type: 'sec1', format: 'pem' }).toString())
  for (const cdp of [key, undefined]) {
    const { server, facilitator, close } = await remote({ cdpKey: cdp })
    try {
      const ada = createPayer(base)
      server.add(ada.address, price)
      const authorization = lowerCase(await ada.authorize({ to: payTo, value: String(price) }))
      const payment = { authorization, createdAtMs: Date.now(), again: false }
      expect(await facilitator.verify(payment)).toBeUndefined()
      expect((await facilitator.settle(payment)).state).toBe('settled')
      expect(server.tokens.map(({ path }) => path)).toEqual(cdp ? ['/x402/verify', '/x402/settle'] : [])
      for (const { path, token } of server.tokens) {
        const { payload } = await jwtVerify(token, publicKey, { issuer: 'cdp', subject: 'key-1' })
        expect(payload.uris).toEqual([`POST ${new URL(server.url).host}${path}`])
      }
    } finally {
      await close()
    }
  }
})

test('resolves an unknown remote settlement on the chain if a node is available', async () => {
  const chain = await evmFacilitator(base)
  const server = await strictFacilitator(base)
  const http = createHttpClient({ maxAnswerBytes: 10_000 })
  const facilitator = createRemoteFacilitator({
    network: base,
    url: server.url,
    chain: chain.chain,
    http,
    log: silentLog,
    now: Date.now,
  })
  try {
    const ada = createPayer(base)
    await chain.give(ada.address, price)
    const authorization = lowerCase(await ada.authorize({ to: payTo, value: String(price) }))
    const payment = { authorization, createdAtMs: Date.now(), again: false }
    server.meets({ moves: false, how: 'cut' })
    expect((await facilitator.settle(payment)).state).toBe('unknown')
    const paid = await chain.facilitator.settle(payment)
    expect(paid.state).toBe('settled')
    expect(await facilitator.settle({ ...payment, again: true })).toEqual(paid)
  } finally {
    await facilitator.close()
    await server.close()
    await chain.close()
  }
})

test('reports an unknown outcome when the chain stalls and later settles once', async () => {
  const { node, facilitator, give, balance, close } = await evmFacilitator(base, { settleWithinMs: 1_000 })
  try {
    const ada = createPayer(base)
    await give(ada.address, 3 * price)
    const createPayment = async () => {
      const authorization = lowerCase(await ada.authorize({ to: payTo, value: String(price) }))
      return { authorization, createdAtMs: Date.now(), again: false }
    }
    // Accepts transactions without mining blocks, so no receipt arrives.
    await node.client.setAutomine(false)
    const waiting = await createPayment()
    expect((await facilitator.settle(waiting)).state).toBe('unknown')
    await node.client.mine({ blocks: 1 })
    await node.client.setAutomine(true)
    expect((await facilitator.settle({ ...waiting, again: true })).state).toBe('settled')
    expect(await balance(ada.address)).toBe(2 * price)

    // The transaction is lost with the pool. The relayer continues with its next nonce.
    await node.client.setAutomine(false)
    const lostPayment = await createPayment()
    expect((await facilitator.settle(lostPayment)).state).toBe('unknown')
    await node.client.request({ method: 'anvil_dropAllTransactions' } as never)
    await node.client.setAutomine(true)
    expect((await facilitator.settle({ ...lostPayment, again: true })).state).toBe('settled')
    expect((await facilitator.settle(await createPayment())).state).toBe('settled')
    expect(await balance(ada.address)).toBe(0)
  } finally {
    await close()
  }
})

test('replaces a stuck transaction with a higher fee without blocking others', async () => {
  const { node, facilitator, give, balance, close } = await evmFacilitator(base, { settleWithinMs: 300 })
  try {
    const ada = createPayer(base)
    await give(ada.address, 2 * price)
    const authorization = lowerCase(await ada.authorize({ to: payTo, value: String(price) }))
    const payment = { authorization, createdAtMs: Date.now(), again: false }
    await node.client.setAutomine(false)
    for (const again of [false, true, true]) {
      expect((await facilitator.settle({ ...payment, again })).state).toBe('unknown')
      expect(await node.client.getTxpoolStatus()).toMatchObject({ pending: 1, queued: 0 })
    }
    await node.client.mine({ blocks: 1 })
    expect((await facilitator.settle({ ...payment, again: true })).state).toBe('settled')
    expect(await balance(ada.address)).toBe(price)
  } finally {
    await close()
  }
})

test('finds a settlement on the chain regardless of its age in blocks', async () => {
  const { node, facilitator, give, balance, close } = await evmFacilitator(base, { blocksAtOnce: 40n })
  try {
    const ada = createPayer(base)
    await give(ada.address, 2 * price)
    const authorization = lowerCase(await ada.authorize({ to: payTo, value: String(price) }))
    const payment = { authorization, createdAtMs: Date.now(), again: false }
    const first = await facilitator.settle(payment)
    await node.client.mine({ blocks: 300 })
    expect(await facilitator.settle({ ...payment, again: true })).toEqual(first)
    expect(await balance(ada.address)).toBe(price)
  } finally {
    await close()
  }
})

test('reports an unknown outcome for an unreachable node and discloses only its host', async () => {
  const { node, facilitator, give, close } = await evmFacilitator(base)
  const ada = createPayer(base)
  await give(ada.address, price)
  const authorization = lowerCase(await ada.authorize({ to: payTo, value: String(price) }))
  const payment = { authorization, createdAtMs: Date.now(), again: false }
  try {
    await node.close()
    expect((await facilitator.settle(payment)).state).toBe('unknown')
    const error = await facilitator.verify(payment).catch((it: unknown) => it)
    expect(String(error)).toContain(`${new URL(node.url).host} cannot be reached.`)
    expect(String(error)).not.toContain('s3cret')
  } finally {
    await close()
  }
})
