import { base58 } from '@scure/base'
import { describe, expect, onTestFinished, test } from 'vitest'
import { solanaNetworks } from '#shared/contract/networks.ts'
import { createScriptedNode, results } from '#test/support/fakes/scriptedNode.ts'
import { solanaPrograms } from './solanaAddresses.ts'
import { createSolanaNode, type TransferQuery } from './solanaNode.ts'

/** Treats the node as hostile: a reply is valid only in exactly the expected form. */
const [mainnet] = solanaNetworks
const genesis = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const hash = base58.encode(new Uint8Array(32).fill(5))
const payer = base58.encode(new Uint8Array(32).fill(6))
const ours = Buffer.alloc(64, 7)
const theirs = Buffer.alloc(64, 8)
const query: TransferQuery = {
  payer,
  blockHash: hash,
  signature: ours,
  sinceMs: 1_700_000_000_000,
  validBeforeMs: 1_700_000_120_000,
}
const wire = (...signatures: Buffer[]) =>
  Buffer.concat([Uint8Array.of(signatures.length), ...signatures, Buffer.alloc(9)])
const row = (over: object = {}) => ({ signature: base58.encode(theirs), err: null, blockTime: 1_700_000_010, ...over })
const createTransaction = (bytes: Buffer, err: unknown = null) => ({
  meta: { err },
  transaction: [bytes.toString('base64'), 'base64'],
})
const honest = {
  getGenesisHash: genesis,
  getLatestBlockhash: { context: { slot: 5 }, value: { blockhash: hash, lastValidBlockHeight: 1 } },
  isBlockhashValid: { context: { slot: 5 }, value: false },
  getSignaturesForAddress: [] as unknown,
  getTransaction: null as unknown,
  getBlockTime: 1_700_000_190 as unknown,
}

async function createNode(answer: Parameters<typeof createScriptedNode>[0]) {
  const scripted = await createScriptedNode(answer)
  const node = createSolanaNode({ network: mainnet, rpcUrl: `${scripted.url}/v2/s3cret?key=s3cret` })
  onTestFinished(async () => {
    node.close()
    await scripted.close()
  })
  return { node, calls: scripted.calls }
}
const outcome = async (over: object) => (await createNode(results({ ...honest, ...over }))).node.transferOutcome(query)
const catchError = (asking: Promise<unknown>): Promise<Error & { kind?: string }> =>
  asking.then(
    (answer) => expect.fail(`It answered ${JSON.stringify(answer)}`),
    (error: unknown) => (error instanceof Error ? error : Promise.reject(error)),
  )

test('returns a finalized block hash', async () => {
  const { node, calls } = await createNode(results(honest))
  expect(await node.latestBlockHash()).toBe(hash)
  expect(calls.at(-1)).toMatchObject({ method: 'getLatestBlockhash', params: [{ commitment: 'finalized' }] })
})

test('a node of another cluster is rejected for every query', async () => {
  const { node } = await createNode(
    results({ ...honest, getGenesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' }),
  )
  for (const asking of [node.latestBlockHash(), node.transferOutcome(query), node.balances([payer])]) {
    expect((await catchError(asking)).message).toMatch(/serves another network: its chain id is not solana:5eykt/)
  }
})

describe('balances', () => {
  const mint = Buffer.from(base58.decode(mainnet.usdc.address))
  const createToken = (over: { mint?: Buffer; owner?: Buffer; bytes?: number; program?: string } = {}) => {
    const data = Buffer.alloc(over.bytes ?? 165)
    data.set(over.mint ?? mint, 0)
    data.set(over.owner ?? base58.decode(payer), 32)
    data.writeBigUInt64LE(1_250_000n, 64)
    return {
      lamports: 2_039_280,
      owner: over.program ?? solanaPrograms.token,
      data: [data.toString('base64'), 'base64'],
    }
  }
  const person = { lamports: 7, owner: solanaPrograms.system, data: ['', 'base64'] }
  const readBalances = async (value: unknown) =>
    (await createNode(results({ ...honest, getMultipleAccounts: { value } }))).node.balances([payer])

  test('are read from the USDC account of the owner, which may not exist', async () => {
    expect(await readBalances([person, createToken()])).toEqual([{ usdc: 1_250_000n, lamports: 7n }])
    expect(await readBalances([null, null])).toEqual([{ usdc: 0n, lamports: 0n }])
    expect(await readBalances([person, person])).toEqual([{ usdc: 0n, lamports: 7n }])
  })

  test('of many owners are queried in batches and returned in order', async () => {
    const owners = Array.from({ length: 60 }, (_, index) => base58.encode(new Uint8Array(32).fill(index + 1)))
    const createReply = ([addresses]: [string[]]) => ({
      value: addresses.map((address) => {
        const index = owners.indexOf(address)
        return index < 0 ? null : { ...person, lamports: index }
      }),
    })
    const { node, calls } = await createNode(results({ ...honest, getMultipleAccounts: createReply }))
    expect((await node.balances(owners)).map(({ lamports }) => Number(lamports))).toEqual(
      owners.map((_, index) => index),
    )
    expect(calls.filter(({ method }) => method === 'getMultipleAccounts')).toHaveLength(2)
  })

  test.each<[string, unknown]>([
    ['the account of another owner', [person, createToken({ owner: Buffer.alloc(32, 1) })]],
    ['an account of another token', [person, createToken({ mint: Buffer.alloc(32, 1) })]],
    ['an account of another program', [person, createToken({ program: solanaPrograms.token2022 })]],
    ['an account that is too short', [person, createToken({ bytes: 100 })]],
    ['a mint for an account', [person, createToken({ bytes: 82 })]],
    ['fewer accounts than were asked for', [person]],
    ['more accounts', [person, createToken(), createToken()]],
    ['a balance below zero', [{ ...person, lamports: -1 }, null]],
    ['a balance that is a text', [{ ...person, lamports: '7' }, null]],
    ['nothing', undefined],
  ])('are rejected as unreadable: %s', async (_, value) => {
    expect((await catchError(readBalances(value))).kind).toBe('unreadable')
  })
})

describe('a signed transfer', () => {
  test('is paid only by the transaction with its signature', async () => {
    const paid = { getSignaturesForAddress: [row()], getTransaction: createTransaction(wire(theirs, ours)) }
    expect(await outcome(paid)).toEqual({ state: 'paid', transaction: base58.encode(theirs) })
    expect(await outcome({ ...paid, getTransaction: createTransaction(wire(theirs, theirs)) })).toEqual({
      state: 'void',
    })
  })

  test('is open while its block hash is valid and not paid by failed transactions', async () => {
    expect(await outcome({ isBlockhashValid: { context: { slot: 5 }, value: true } })).toEqual({ state: 'open' })
    const failed = row({ err: { InstructionError: [2, { Custom: 1 }] } })
    expect(await outcome({ getSignaturesForAddress: [failed] })).toEqual({ state: 'void' })
  })

  test('is open for a lagging node and unreadable without a block time', async () => {
    expect(await outcome({ getBlockTime: 1_700_000_010 })).toEqual({ state: 'open' })
    expect((await catchError(outcome({ getBlockTime: null }))).kind).toBe('unreadable')
  })

  test('is found past unrelated history entries using state that is not older', async () => {
    let page = 0
    const { node, calls } = await createNode(
      results({
        ...honest,
        getSignaturesForAddress: () =>
          ++page === 1 ? Array.from({ length: 1_000 }, () => row({ err: 'failed' })) : [row()],
        getTransaction: createTransaction(wire(theirs, ours)),
      }),
    )
    expect(await node.transferOutcome(query)).toMatchObject({ state: 'paid' })
    const pages = calls.filter(({ method }) => method === 'getSignaturesForAddress')
    expect(pages.map(({ params }) => params[1])).toEqual([
      { commitment: 'finalized', minContextSlot: 5, limit: 1_000 },
      { commitment: 'finalized', minContextSlot: 5, limit: 1_000, before: base58.encode(theirs) },
    ])
  })

  test.each<[string, object, string]>([
    [
      'a history without end',
      { getSignaturesForAddress: Array.from({ length: 1_000 }, () => row({ err: 'x' })) },
      'too-large',
    ],
    [
      'more transfers than can be read',
      { getSignaturesForAddress: Array.from({ length: 101 }, () => row()) },
      'too-large',
    ],
    ['a transaction that is not there', { getSignaturesForAddress: [row()] }, 'unreadable'],
    [
      'another transaction than was asked for',
      { getSignaturesForAddress: [row()], getTransaction: createTransaction(wire(ours)) },
      'unreadable',
    ],
    [
      'a transaction that failed after all',
      { getSignaturesForAddress: [row()], getTransaction: createTransaction(wire(theirs, ours), 'no') },
      'unreadable',
    ],
    [
      'no transaction at all',
      { getSignaturesForAddress: [row()], getTransaction: createTransaction(Buffer.alloc(0)) },
      'unreadable',
    ],
    ['a word for a truth', { isBlockhashValid: { context: { slot: 5 }, value: 'false' } }, 'unreadable'],
    ['a history that is an object', { getSignaturesForAddress: {} }, 'unreadable'],
    ['nothing', { isBlockhashValid: undefined }, 'unreadable'],
  ])('has no outcome after an invalid reply: %s', async (_, over, kind) => {
    expect((await catchError(outcome(over))).kind).toBe(kind)
  })
})

const json = { 'content-type': 'application/json' }
test.each<[string, Parameters<typeof createScriptedNode>[0], string]>([
  ['no JSON', (_, it) => it.writeHead(200).end('<html>s3cret</html>'), 'unreadable'],
  ['a redirect', (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:1' }).end(), 'status'],
  [
    'an error with its key',
    (_, it) => it.writeHead(200, json).end('{"error":{"code":-32005,"message":"s3cret"}}'),
    'refused',
  ],
  ['an error of its proxy', (_, it) => it.writeHead(502).end('s3cret'), 'status'],
  ['too much', (_, response) => response.writeHead(200, json).end(`"${'x'.repeat(3_000_000)}"`), 'too-large'],
  ['arrays in arrays', (_, it) => it.writeHead(200, json).end('['.repeat(500_000)), 'unreadable'],
  [
    'half of an answer',
    (_, response) =>
      void response.writeHead(200, { 'content-length': '100' }).end('{"jsonrpc"', () => response.destroy()),
    'unreachable',
  ],
])('%s is reported as an error without the node address', async (_, answer, kind) => {
  const error = await catchError((await createNode(answer)).node.latestBlockHash())
  expect(error.kind).toBe(kind)
  expect(`${error.message} ${error.stack}`).not.toContain('s3cret')
})
