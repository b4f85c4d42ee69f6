import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export const payee = '0x5d38E6C1923492247511a01b49e34A26cacD6811'
export const baseUsdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

export type SellerRequest = { path: string; payment: string | undefined; request: IncomingMessage }
type Answering = (request: SellerRequest, response: ServerResponse) => void | Promise<void>

/** Starts an x402 seller that responds to payments as the test specifies. */
export async function hostileSeller(paid: Answering, offer: object | (() => object) = {}) {
  const requests: SellerRequest[] = []
  const server = createServer((request, response) => {
    response.sendDate = false // tests use other clocks
    const payment = request.headers['payment-signature'] ?? request.headers['x-payment']
    const sellerRequest = {
      path: request.url ?? '',
      payment: payment === undefined ? undefined : String(payment),
      request,
    }
    requests.push(sellerRequest)
    response.on('error', () => {})
    if (sellerRequest.payment !== undefined) return void paid(sellerRequest, response)
    response.writeHead(402, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ x402Version: 1, accepts: [createOffer(typeof offer === 'function' ? offer() : offer)] }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url,
    asked: requests,
    /** Payments of all requests, in order, including repeated ones. */
    payments: () => requests.flatMap(({ payment }) => payment ?? []),
    /** Number of distinct signatures. More than one means a double payment. */
    signatures: () => new Set(requests.flatMap(({ payment }) => payment ?? [])).size,
  }
}

export function createOffer(over: object = {}) {
  const defaults = { scheme: 'exact', network: 'base', maxAmountRequired: '0010000', asset: baseUsdc, payTo: payee }
  return { ...defaults, maxTimeoutSeconds: 60, ...over }
}

export const transaction = `0x${'ab'.repeat(32)}`

/** Sends the payment response of an honest seller. */
export function respond(_: SellerRequest, response: ServerResponse, over: object = {}): void {
  const receipt = { success: true, transaction, network: 'base', ...over }
  response.writeHead(200, {
    'content-type': 'application/json',
    'x-payment-response': Buffer.from(JSON.stringify(receipt)).toString('base64'),
  })
  response.end('{"report":1}')
}
