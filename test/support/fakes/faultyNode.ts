import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createListening } from './listening.ts'

/** `hold` never responds, and `cut` closes the connection. `passed`: whether the node received the request first. */
export type Trouble = { how: 'hold' | 'cut'; passed: boolean }
type Call = { method: string; params?: readonly unknown[] }

/** Starts a proxy to a node that disrupts the requests that a test selects. */
export async function createFaultyNode(target: string) {
  let findTrouble: (nonce: string, method: string) => Trouble | undefined = () => undefined
  /** Transactions by the authorization that they settle, because receipts are read by hash. */
  const settles = new Map<string, string>()
  const calls: { nonce: string; method: string; how: Trouble['how'] | undefined }[] = []
  const nonces = new Set<string>()

  const readNonce = (body: string, { params }: Call): string => {
    const settlement = settles.get(String(params?.[0]))
    return settlement ?? [...nonces].find((nonce) => body.includes(nonce.slice(2))) ?? ''
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request)
    const call = JSON.parse(body) as Call
    const nonce = readNonce(body, call)
    const trouble = findTrouble(nonce, call.method)
    const forward = async () => {
      const reply = await fetch(target, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      const said = await reply.text()
      if (call.method === 'eth_sendRawTransaction') settles.set(JSON.parse(said).result, nonce)
      return said
    }
    const said = !trouble || trouble.passed ? await forward() : ''
    calls.push({ nonce, method: call.method, how: trouble?.how })
    if (!trouble) response.writeHead(200, { 'content-type': 'application/json' }).end(said)
    else if (trouble.how === 'cut') response.destroy()
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  const { url, close } = await createListening(server)
  return {
    url,
    /** Tracks requests about this authorization. */
    watch: (nonce: string) => void nonces.add(nonce),
    meets(decide: typeof findTrouble | undefined) {
      findTrouble = decide ?? (() => undefined)
    },
    isHeld: (nonce: string) => calls.some((call) => call.nonce === nonce && call.how === 'hold'),
    sent: (nonce: string) =>
      calls.filter((call) => call.nonce === nonce && call.method === 'eth_sendRawTransaction').length,
    close,
  }
}
