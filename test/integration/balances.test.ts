import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createBalanceRepository } from '#agent/wallet/balanceRepository.ts'
import { createBalanceSources } from '#agent/wallet/balanceSources.ts'
import { type Balances, createBalances } from '#agent/wallet/balances.ts'
import { createChainThread } from '#platform/chain/chainThread.ts'
import { silentLog } from '#platform/logging/log.ts'
import { createSolanaNode } from '#platform/solana/solanaNode.ts'
import { evmNetworks, type SolanaNetwork, solanaNetworks } from '#shared/contract/networks.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { until } from '../support/assertions/eventually.ts'
import { testDollarAbi } from '../support/contracts/testContracts.ts'
import { createMemoryKeys } from '../support/fakes/memoryKeys.ts'
import { solanaCluster } from '../support/fakes/solanaCluster.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createTestSigner } from '../support/fixtures/testSigner.ts'
import { createEvmNode, type EvmNode } from '../support/processes/evmNode.ts'

const [base] = evmNetworks
const readAt = Date.parse('2026-01-02T03:04:05.678Z')

let node: EvmNode
const thread = createChainThread({ log: silentLog })
const keys = createMemoryKeys()
const opened: (() => unknown)[] = []
const atEnd: (() => unknown)[] = []

beforeAll(async () => {
  atEnd.push(() => thread.close())
  node = await createEvmNode(base)
  atEnd.push(() => node.close())
  await node.mint(keys.evm.address, 12_345_678n)
  await node.setEther(keys.evm.address, 1_000_000_000_000_000_001n)
  await node.setEther(keys.otherEvm.address, 0n)
})
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})
afterAll(() => Promise.all(atEnd.map((close) => close())))

function openedDatabase(): Database {
  const database = openDatabase(join(temporaryFolder('balances'), 'agent.sqlite'))
  opened.push(() => database.close())
  migrate(database, agentMigrations)
  database.exec("INSERT INTO keyrings VALUES ('keys_1', 'phrase', 'Phrase', 12, 1, 0)")
  const add = database.prepare("INSERT INTO wallet_accounts VALUES (?, 'keys_1', ?, ?, NULL, ?, 0)")
  for (const { id, chainType, address, label } of keys.accounts()) add.run(id, chainType, address, label)
  return database
}

function reading(rpc: string, database = openedDatabase()): Balances {
  return createBalances({
    keys,
    repository: createBalanceRepository(database),
    sources: createBalanceSources({
      chains: evmNetworks.map((network) => thread.chain({ network, rpcUrl: rpc })),
      solana: solanaNetworks.map((network) => createBalanceNode(network, rpc)),
    }),
    now: () => readAt,
  })
}

function createBalanceNode(network: SolanaNetwork, rpcUrl: string) {
  const node = createSolanaNode({ network, rpcUrl })
  opened.push(() => node.close())
  return node
}

async function server(answer: Parameters<typeof createServer>[1]): Promise<{ url: string; server: Server }> {
  const created = createServer(answer)
  await new Promise<void>((resolve) => created.listen(0, '127.0.0.1', resolve))
  opened.push(() => {
    created.closeAllConnections()
    return new Promise((resolve) => created.close(resolve))
  })
  return { url: `http://127.0.0.1:${(created.address() as AddressInfo).port}`, server: created } // listens on TCP
}

/** Returns a port without a listener. */
async function deadUrl(): Promise<string> {
  const { url, server: hangingServer } = await server(() => {})
  await new Promise((resolve) => hangingServer.close(resolve))
  return url
}

test('reads the exact USDC and ether balances of every EVM account', async () => {
  expect(await reading(node.url).read('base')).toEqual({
    network: 'eip155:8453',
    source: 'live',
    detail: null,
    balances: [
      {
        account_id: keys.evm.id,
        address: keys.evm.address,
        network: 'eip155:8453',
        usdc: '12345678',
        ether: '1000000000000000001',
        lamports: null,
        as_of: '2026-01-02T03:04:05.678Z',
      },
      expect.objectContaining({ account_id: keys.otherEvm.id, usdc: '0', ether: '0' }),
    ],
  })
})

test('reads and stores the exact USDC and SOL balances of every Solana account', async () => {
  const cluster = await solanaCluster()
  opened.push(() => cluster.close())
  await cluster.give(keys.solana.address, 7_654_321n)
  cluster.airdrop(keys.solana.address, 1_000_000_005n)
  const database = openedDatabase()
  const live = await reading(cluster.url, database).read('solana')
  expect(live).toMatchObject({ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', source: 'live' })
  const expected = { account_id: keys.solana.id, address: keys.solana.address, ether: null }
  expect(live.balances).toEqual([
    expect.objectContaining({ ...expected, usdc: '7654321', lamports: '1000000005' }),
    expect.objectContaining({ account_id: keys.otherSolana.id, usdc: '0', lamports: '0' }),
  ])
  const later = await reading(await deadUrl(), database).read('solana')
  expect(later).toMatchObject({ source: 'stale', balances: live.balances })
})

test('shows the last balances with their age while the network is unreachable', async () => {
  const database = openedDatabase()
  await reading(node.url, database).read('8453')
  const dead = await deadUrl()
  const { source, detail, balances: cachedBalances } = await reading(dead, database).read('eip155:8453')
  expect({ source, detail }).toEqual({ source: 'stale', detail: `${new URL(dead).host} cannot be reached.` })
  expect(cachedBalances[0]).toMatchObject({ usdc: '12345678', as_of: '2026-01-02T03:04:05.678Z' })
})

test('reports a balance as unknown instead of zero if it was never read', async () => {
  const { balances: unknown } = await reading(await deadUrl()).read('base')
  expect(unknown[0]).toMatchObject({ usdc: null, ether: null, as_of: null })
})

test('rejects balances from a network with another chain id', async () => {
  const { source, detail, balances: unknown } = await reading(node.url).read('base-sepolia')
  expect(source).toBe('stale')
  expect(detail).toBe(`${new URL(node.url).host} serves another network: its chain id is not 84532.`)
  expect(unknown[0]?.usdc).toBeNull()
})

test.each([
  [
    'an error',
    200,
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"key s3cret is over its limit"}}',
    /code -32005\.$/,
  ],
  ['no JSON', 502, '<html>Bad gateway for /v2/s3cret</html>', /status 502 instead of JSON-RPC\.$/],
  ['figures that are none', 200, '{"jsonrpc":"2.0","id":1,"result":"0x2105"}', /an unreadable response\.$/],
])('reports a network response with %s without revealing the RPC key', async (_, status, text, expected) => {
  const { url } = await server((_request, response) => response.writeHead(status).end(text))
  const { detail } = await reading(`${url}/v2/s3cret?key=s3cret`).read('base')
  expect(detail).toMatch(expected)
  expect(detail).not.toContain('s3cret')
})

test('times out after six seconds and sends one query for concurrent reads', async () => {
  let requestCount = 0
  const { url } = await server(() => {
    requestCount += 1 // and never responds
  })
  const reader = reading(url)
  const all = [reader.read('base'), reader.read('base')]
  await until('the network to be asked', () => requestCount > 0)
  for (const { source, detail } of await Promise.all(all)) {
    expect({ source, detail }).toEqual({ source: 'stale', detail: `${new URL(url).host} did not respond within 6 s.` })
  }
  expect(requestCount).toBe(1)
})

test('shows only the host of an RPC URL and lists only the supported networks', async () => {
  const reader = reading('https://rpc.example.com:8443/v2/s3cret?key=s3cret')
  expect(reader.networks()).toEqual([
    {
      id: 'eip155:8453',
      slug: 'base',
      name: 'Base',
      chain_id: 8453,
      test: false,
      usdc_address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      rpc_host: 'rpc.example.com:8443',
    },
    expect.objectContaining({ slug: 'base-sepolia', chain_id: 84532, test: true }),
    {
      id: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      slug: 'solana',
      name: 'Solana',
      chain_id: null,
      test: false,
      usdc_address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      rpc_host: 'rpc.example.com:8443',
    },
    expect.objectContaining({ slug: 'solana-devnet', chain_id: null, test: true }),
  ])
  await expect(reader.read('eip155:1')).rejects.toEqual(
    expect.objectContaining({ code: 'chain/unknown', message: 'There is no network "eip155:1".' }),
  )
})

test('the USDC contract accepts a payment authorized by the signer exactly once', async () => {
  const { signer, prepare, clock } = createTestSigner()
  clock.now = Date.now()
  const payee = '0x5d38E6C1923492247511a01b49e34A26cacD6811'
  const { signature, authorization } = await signer.sign(
    await prepare({
      kind: 'x402.authorize',
      network: 'base',
      pay_to: payee,
      amount: '1000000',
      resource: 'https://example.com/pay',
    }),
  )
  if (!authorization) throw new Error('Nothing was authorized.')
  const { from, to, value, validAfter, validBefore, nonce } = authorization as Record<
    keyof typeof authorization,
    `0x${string}`
  >
  const [r, s, v] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`, Number(`0x${signature.slice(130)}`)]
  const transfer = {
    address: base.usdc.address,
    abi: testDollarAbi,
    functionName: 'transferWithAuthorization',
    account: keys.otherEvm.address as `0x${string}`, // a relayer for which anvil signs
    args: [
      from,
      to,
      BigInt(value),
      BigInt(validAfter),
      BigInt(validBefore),
      nonce,
      v,
      r as `0x${string}`,
      s as `0x${string}`,
    ],
  } as const
  await node.setEther(keys.otherEvm.address, 10n ** 18n)
  const hash = await node.client.writeContract(transfer)
  const { status } = await node.client.waitForTransactionReceipt({ hash, pollingInterval: 20 })
  expect(status).toBe('success')
  const balance = { address: base.usdc.address, abi: testDollarAbi, functionName: 'balanceOf', args: [payee] } as const
  expect(await node.client.readContract(balance)).toBe(1_000_000n)
  await expect(node.client.simulateContract(transfer)).rejects.toThrow(/revert/)
})
