import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { evmNetworks } from '#shared/contract/networks.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { createScriptedNode, numbers, results } from '#test/support/fakes/scriptedNode.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { atEndOfFile } from '#test/support/runner/endOfFile.ts'
import { silentLog } from '../logging/log.ts'
import type { AuthorizationQuery } from './chain.ts'
import { createChainThread } from './chainThread.ts'

/**
 * Treats the node as hostile: in all cases a query must end, the caller's thread must stay free, and the node's address
 * must not leak.
 */
const [base] = evmNetworks
const address = '0x2222222222222222222222222222222222222222'
const shared = createChainThread({ log: silentLog })
atEndOfFile(() => shared.close())

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})
async function node(...parameters: Parameters<typeof createScriptedNode>) {
  const created = await createScriptedNode(...parameters)
  opened.push(created.close)
  return created
}
function ownThread(options: Omit<Parameters<typeof createChainThread>[0], 'log'> = {}) {
  const thread = createChainThread({ log: silentLog, ...options })
  opened.push(() => thread.close())
  return thread
}
const openChain = (url: string, thread = shared) =>
  thread.chain({ network: base, rpcUrl: `${url}/v2/s3cret?key=s3cret` })
const catchError = (work: Promise<unknown>): Promise<Error & { kind?: string }> =>
  work.then(
    (answer) =>
      expect.fail(`It answered ${JSON.stringify(answer, (_, it) => (typeof it === 'bigint' ? `${it}` : it))}`),
    (error: unknown) => (error instanceof Error ? error : Promise.reject(error)),
  )

describe('node replies', () => {
  const json = { 'content-type': 'application/json' }
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, '['))
  test.each<[string, Parameters<typeof createScriptedNode>[0], string, RegExp]>([
    ['no JSON', (_, it) => it.writeHead(200).end('<html>s3cret</html>'), 'unreadable', /an unreadable response\.$/],
    ['JSON that is no JSON-RPC', (_, it) => it.writeHead(200, json).end('[1,2]'), 'unreadable', /unreadable response/],
    ['null', (_, it) => it.writeHead(200, json).end('null'), 'unreadable', /unreadable response/],
    ['nothing', (_, it) => it.writeHead(204).end(), 'unreadable', /unreadable response/],
    ['a number for a table', results({ eth_call: '0x2105' }), 'unreadable', /unreadable response/],
    ['a table of garbage', results({ eth_call: `0x${'f'.repeat(640)}` }), 'unreadable', /unreadable response/],
    ['an object for a text', results({ eth_call: { toString: 's3cret' } }), 'unreadable', /unreadable response/],
    [
      'arrays in arrays',
      (_, it) => it.writeHead(200, json).end('['.repeat(500_000)),
      'unreadable',
      /unreadable response/,
    ],
    [
      'an error that repeats its key',
      (_, it) =>
        it
          .writeHead(200, json)
          .end('{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"s3cret is over its limit"}}'),
      'refused',
      /refused the request with code -32005\.$/,
    ],
    [
      'an error of its proxy',
      (_, it) => it.writeHead(502).end('s3cret'),
      'status',
      /with status 502 instead of JSON-RPC\.$/,
    ],
    [
      'too much',
      (_, response) => response.writeHead(200, json).end(`"${'x'.repeat(3_000_000)}"`),
      'too-large',
      /too large\.$/,
    ],
    [
      'much that was packed small',
      (_, it) => it.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb),
      'too-large',
      /too large\.$/,
    ],
    [
      'half of an answer',
      (_, it) => {
        it.writeHead(200, { ...json, 'content-length': '100' }).write('{"jsonrpc"')
        setImmediate(() => it.destroy())
      },
      'unreachable',
      /cannot be reached\.$/,
    ],
  ])('%s is reported as an error, not a reply', async (_, answer, kind, message) => {
    const { url } = await node(answer)
    const error = await catchError(openChain(url).balances([address]))
    expect(error).toMatchObject({ kind, message: expect.stringMatching(message) })
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain('s3cret')
    expect(error.cause).toBeUndefined()
  })

  test('from another network are rejected for every query', async () => {
    const { url } = await node(results({ eth_call: numbers(1, 0, 2_000_000_000, 5) }))
    for (const query of [openChain(url).balances([address]), openChain(url).authorizationOutcome(authorization())]) {
      const { message } = await catchError(query)
      expect(message).toBe(`${new URL(url).host} serves another network: its chain id is not 8453.`)
    }
  })

  test('with a redirect are not followed', async () => {
    const otherNode = await node(results({ eth_call: numbers(8453, 1, 1) }))
    const { url } = await node((_, it) => it.writeHead(307, { location: otherNode.url }).end())
    expect(await catchError(openChain(url).balances([address]))).toMatchObject({ kind: 'status' })
    expect(otherNode.calls).toEqual([])
  })
})

describe('a signed authorization', () => {
  const used = numbers(8453, 1, 1_700_000_000, 50)
  const createUnused = (seconds: number) => numbers(8453, 0, seconds, 50)

  test('is unused while either clock says that it is still valid', async () => {
    const { validBefore } = authorization()
    const early = await node(results({ eth_call: createUnused(Number(validBefore) - 1) }))
    expect(await openChain(early.url).authorizationOutcome(authorization({ late: true }))).toEqual({ state: 'unused' })
    // A wrong or fast node clock must not release reserved money.
    const ahead = await node(results({ eth_call: createUnused(Number(validBefore) + 1_000_000) }))
    expect(await openChain(ahead.url).authorizationOutcome(authorization())).toEqual({ state: 'unused' })
    expect(await openChain(ahead.url).authorizationOutcome(authorization({ late: true }))).toEqual({ state: 'expired' })
  })

  test('is not marked paid by unrelated logs', async () => {
    const log = {
      ...{ address: base.usdc.address, blockHash: hash('b'), blockNumber: '0x5', data: '0x' },
      ...{ logIndex: '0x0', transactionHash: hash('c'), transactionIndex: '0x0', removed: false },
      // AuthorizationUsed event of another account
      topics: [
        '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
        `0x${'0'.repeat(24)}${'9'.repeat(40)}`,
        authorization().nonce,
      ],
    }
    const { url, calls } = await node(
      results({
        eth_call: used,
        eth_blockNumber: '0x32',
        eth_getLogs: [log, null, { topics: [] }],
        eth_getBlockByNumber: null,
      }),
    )
    expect(
      await openChain(url)
        .authorizationOutcome(authorization())
        .catch(() => ({ state: 'failed' })),
    ).not.toMatchObject({
      state: 'paid',
    })
    expect(calls.map(({ method }) => method)).not.toContain('eth_getTransactionReceipt')
  })

  test('is searched for only within its time limit on an endless chain', async () => {
    const block = { number: '0x5', timestamp: '0xffffffffff', hash: hash('b'), transactions: [] }
    const { url } = await node(
      results({ eth_call: used, eth_blockNumber: '0xffffffffffff', eth_getLogs: [], eth_getBlockByNumber: block }),
    )
    const error = await catchError(openChain(url).authorizationOutcome(authorization(), { withinMs: 400 }))
    expect(error).toMatchObject({ kind: 'late', message: `${new URL(url).host} did not respond within 0.4 s.` })
  })
})

test('a node that sends bytes slowly is abandoned and its connection closed', async () => {
  let isClosed = false
  const { url, calls } = await node((request, response) => {
    request.socket.once('close', () => {
      isClosed = true
    })
    response.writeHead(200).write('{"jsonrpc":"2.0",')
    const drip = setInterval(() => response.write(' '), 20)
    response.once('close', () => clearInterval(drip))
  })
  expect(await catchError(openChain(url).balances([address], { withinMs: 300 }))).toMatchObject({ kind: 'late' })
  await until('the connection to close', () => isClosed)
  expect(calls).toHaveLength(1)
})

test('aborting a query rejects it and closes the node connection', async () => {
  let isClosed = false
  const { url, calls } = await node((request) => {
    request.socket.once('close', () => {
      isClosed = true
    })
  })
  const stopping = new AbortController()
  const query = catchError(openChain(url).balances([address], { signal: stopping.signal }))
  await until('the node to be asked', () => calls.length > 0)
  stopping.abort(new Error('Never mind.'))
  expect((await query).message).toBe('Never mind.')
  await until('the connection to close', () => isClosed)
  expect((await catchError(openChain(url).balances([address], { signal: stopping.signal }))).message).toBe(
    'Never mind.',
  )
})

test('the thread starts with the first query, ends when idle and starts again', async () => {
  const { url } = await node(results({ eth_call: numbers(8453, 7, 8) }))
  const thread = ownThread({ idleMs: 1 })
  const chain = openChain(url, thread)
  expect(thread.isRunning()).toBe(false)
  for (let times = 0; times < 2; times += 1) {
    expect(await chain.balances([address])).toEqual([{ usdc: 7n, ether: 8n }])
    await until('the thread to end', () => !thread.isRunning())
  }
})

test('closing rejects pending queries and accepts no new ones', async () => {
  const { url, calls } = await node(() => undefined)
  const thread = ownThread()
  const query = catchError(openChain(url, thread).balances([address]))
  await until('the node to be asked', () => calls.length > 0)
  await thread.close()
  expect(await query).toMatchObject({ kind: 'closed', message: 'Steward is stopping.' })
  expect(await catchError(openChain(url, thread).balances([address]))).toMatchObject({ kind: 'closed' })
  expect(calls).toHaveLength(1)
})

test.each([
  ['ends', 'process.exit(3)', 'crashed', 60_000],
  ['fails', `throw new Error('s3cret')`, 'crashed', 60_000],
  ['never stops', 'for (;;);', 'late', 100],
])('a thread that %s fails its queries and is replaced', async (_, does, kind, withinMs) => {
  const script = join(temporaryFolder('chain-worker'), 'worker.mjs')
  const text = `import { parentPort } from 'node:worker_threads'
    parentPort.on('message', () => { ${does} })
    parentPort.postMessage({ type: 'ready' })`
  writeFileSync(script, text)
  const thread = ownThread({ workerUrl: pathToFileURL(script), stopMs: 50 })
  for (let times = 0; times < 2; times += 1) {
    const error = await catchError(openChain('http://127.0.0.1:1', thread).balances([address], { withinMs }))
    expect(error.kind).toBe(kind)
    await until('the thread to end', () => !thread.isRunning())
  }
})

function authorization(options: { late?: boolean } = {}): AuthorizationQuery {
  const validBefore = 1_700_000_300
  return {
    ...{ from: address, to: `0x${'3'.repeat(40)}`, value: '5000000', nonce: hash('a') },
    ...{ validBefore: String(validBefore), sinceMs: (validBefore - 300) * 1000 },
    nowMs: (validBefore + (options.late ? 1 : -100)) * 1000,
  }
}

function hash(digit: string): `0x${string}` {
  return `0x${digit.repeat(64)}`
}
