import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { decodeFunctionData, encodeFunctionResult, type Hex, multicall3Abi, numberToHex } from 'viem'
import { createListening } from './listening.ts'

type Call = { method: string; params: readonly unknown[] }

/** Starts an HTTP server that receives JSON-RPC and sends any response that a test specifies, valid or not. */
export async function createScriptedNode(
  answer: (request: IncomingMessage, response: ServerResponse, call: Call) => unknown,
) {
  const calls: Call[] = []
  const server = createServer(async (request, response) => {
    const call = JSON.parse((await text(request)) || '{}') as Call
    calls.push(call)
    await answer(request, response, call)
  })
  const { url, close } = await createListening(server)
  return {
    url,
    calls,
    close,
  }
}

/** Responds like a node. `results` come from the table by method, or from a function of the call. */
export function results(table: Record<string, unknown>) {
  return (_request: IncomingMessage, response: ServerResponse, { method, params }: Call): void => {
    const handler = table[method]
    const result = typeof handler === 'function' ? handler(params) : handler
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
  }
}

/** Encodes the result of Multicall3's `eth_call`: one number per call, in order. */
export function numbers(...values: (number | bigint)[]) {
  return ([{ data }]: [{ data: Hex }]): Hex => {
    const { args } = decodeFunctionData({ abi: multicall3Abi, data })
    const calls = args[0] as readonly unknown[]
    return encodeFunctionResult({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      result: calls.map((_, index) => ({ success: true, returnData: numberToHex(values[index] ?? 0, { size: 32 }) })),
    })
  }
}
