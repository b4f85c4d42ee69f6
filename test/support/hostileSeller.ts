import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export const payee = '0x5d38E6C1923492247511a01b49e34A26cacD6811'
export const baseUsdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

export type Asked = { path: string; payment: string | undefined; request: IncomingMessage }
type Answering = (asked: Asked, response: ServerResponse) => void | Promise<void>

/** Somebody who sells by x402 at this computer, and answers a payment as the test likes. */
export async function hostileSeller(paid: Answering, offer: object | (() => object) = {}) {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    response.sendDate = false // tests use other clocks
    const payment = request.headers['payment-signature'] ?? request.headers['x-payment']
    const one = { path: request.url ?? '', payment: payment === undefined ? undefined : String(payment), request }
    asked.push(one)
    response.on('error', () => {})
    if (one.payment !== undefined) return void paid(one, response)
    response.writeHead(402, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ x402Version: 1, accepts: [offered(typeof offer === 'function' ? offer() : offer)] }))
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
    asked,
    /** As they came, each time. */
    payments: () => asked.flatMap(({ payment }) => payment ?? []),
    /** Of different signatures: more than one pays twice. */
    signatures: () => new Set(asked.flatMap(({ payment }) => payment ?? [])).size,
  }
}

export function offered(over: object = {}) {
  const usual = { scheme: 'exact', network: 'base', maxAmountRequired: '0010000', asset: baseUsdc, payTo: payee }
  return { ...usual, maxTimeoutSeconds: 60, ...over }
}

export const transaction = `0x${'ab'.repeat(32)}`

/** What an honest seller answers to a payment. */
export function served(_: Asked, response: ServerResponse, over: object = {}): void {
  const receipt = { success: true, transaction, network: 'base', ...over }
  response.writeHead(200, {
    'content-type': 'application/json',
    'x-payment-response': Buffer.from(JSON.stringify(receipt)).toString('base64'),
  })
  response.end('{"report":1}')
}
