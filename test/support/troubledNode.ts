import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `hold` never answers; `cut` closes the connection. Where `passed`, the node has the request by then. */
export type Trouble = { how: 'hold' | 'cut'; passed: boolean }
type Call = { method: string; params?: readonly unknown[] }

/** Stands before a node, and makes trouble for the requests that a test picks. */
export async function troubledNode(target: string) {
  let troubleOf: (nonce: string, method: string) => Trouble | undefined = () => undefined
  /** Of transactions, by what they settle: receipts are asked by hash. */
  const settles = new Map<string, string>()
  const seen: { nonce: string; method: string; how: Trouble['how'] | undefined }[] = []
  const nonces = new Set<string>()

  const nonceOf = (text: string, { params }: Call): string => {
    const known = settles.get(String(params?.[0]))
    return known ?? [...nonces].find((it) => text.includes(it.slice(2))) ?? ''
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(request)
    const call = JSON.parse(text) as Call
    const nonce = nonceOf(text, call)
    const trouble = troubleOf(nonce, call.method)
    const forwarded = async () => {
      const reply = await fetch(target, { method: 'POST', body: text, headers: { 'content-type': 'application/json' } })
      const said = await reply.text()
      if (call.method === 'eth_sendRawTransaction') settles.set(JSON.parse(said).result, nonce)
      return said
    }
    const said = !trouble || trouble.passed ? await forwarded() : ''
    seen.push({ nonce, method: call.method, how: trouble?.how })
    if (!trouble) response.writeHead(200, { 'content-type': 'application/json' }).end(said)
    else if (trouble.how === 'cut') response.destroy()
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Requests about this authorization are told from others. */
    watch: (nonce: string) => void nonces.add(nonce),
    meets(decide: typeof troubleOf | undefined) {
      troubleOf = decide ?? (() => undefined)
    },
    isHeld: (nonce: string) => seen.some((it) => it.nonce === nonce && it.how === 'hold'),
    sent: (nonce: string) => seen.filter((it) => it.nonce === nonce && it.method === 'eth_sendRawTransaction').length,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}
