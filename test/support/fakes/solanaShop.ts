import { createServer } from 'node:http'
import { solanaNetworks } from '#shared/contract/networks.ts'
import { createListening } from './listening.ts'
import { solanaCluster, solanaUsdc } from './solanaCluster.ts'

const [mainnet] = solanaNetworks

export type ShopOptions = {
  /** Address that is funded with 5 USDC. */
  payer: string
  extra?: object
  paid?: Paid
  version?: 1 | 2
  clock?: () => number
}
type Paid = (payload: { payload: { transaction: string } }, requirements: Requirements) => Promise<Answered>
type Answered = { status: number; receipt?: object }
type Requirements = { scheme: 'exact'; network: typeof mainnet.id; amount: string; asset: string; payTo: string } & {
  maxTimeoutSeconds: number
  extra: Record<string, unknown>
}

/** Sells a report for 0.01 USDC on Solana's runtime, through the facilitator of the x402 library. */
export async function solanaShop(options: ShopOptions) {
  const cluster = await solanaCluster(options.clock)
  const payTo = await cluster.someAddress(9)
  await cluster.give(options.payer, 5_000_000n)
  await cluster.give(payTo, 0n)
  const requirements: Requirements = {
    ...{ scheme: 'exact', network: mainnet.id, amount: '10000', asset: solanaUsdc, payTo, maxTimeoutSeconds: 60 },
    extra: { feePayer: cluster.feePayer, ...options.extra },
  }
  const settle: Paid = async (payload) => {
    const receipt = await cluster.facilitator.settle(payload as never, requirements)
    return { status: receipt.success ? 200 : 402, receipt }
  }
  const payments: string[] = []
  const server = createServer(async (request, response) => {
    const paymentHeader = request.headers['payment-signature'] ?? request.headers['x-payment']
    if (paymentHeader === undefined) {
      const { amount, ...terms } = requirements
      const offer =
        options.version === 1 ? { ...terms, network: 'solana', maxAmountRequired: amount, resource: '' } : requirements
      response.writeHead(402).end(JSON.stringify({ x402Version: options.version ?? 2, accepts: [offer] }))
      return
    }
    payments.push(String(paymentHeader))
    const payload = JSON.parse(Buffer.from(String(paymentHeader), 'base64').toString('utf8'))
    const settlement = await (options.paid ?? settle)({ accepted: requirements, ...payload }, requirements)
    const header = settlement.receipt && Buffer.from(JSON.stringify(settlement.receipt)).toString('base64')
    response
      .writeHead(settlement.status, header === undefined ? {} : { 'payment-response': header })
      .end('{"report":1}')
  })
  const { url, close } = await createListening(server)
  return {
    ...{ cluster, payTo, payments, settle, url: `${url}/report` },
    close: () => Promise.all([close(), cluster.close()]),
  }
}
