import { createServer } from 'node:http'
import { x402UptoPermit2ProxyABI as proxyAbi } from '@x402/evm'
import type { Address, Hex } from 'viem'
import { evmNetworks, permit2 } from '#shared/contract/networks.ts'
import { createTestContracts, testDollarAbi } from '../contracts/testContracts.ts'
import type { EvmNode } from '../processes/evmNode.ts'
import { createListening } from './listening.ts'

const [base] = evmNetworks
/** Second of anvil's default accounts. */
const facilitator: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export type UptoPermit = {
  signature: Hex
  permit2Authorization: {
    from: Address
    permitted: { token: Address; amount: string }
    spender: Address
    nonce: string
    deadline: string
    witness: { to: Address; facilitator: Address; validAfter: string }
  }
}

/**
 * Starts a seller of `upto` payments on this node, and its facilitator.
 * @param cap maximum amount in millionths of a USDC
 */
export async function uptoMarket(node: EvmNode, { payTo, cap }: { payTo: Address; cap: number }) {
  const { TestPermit2, TestUptoProxy } = createTestContracts()
  await node.deploy(permit2.address, TestPermit2)
  await node.deploy(permit2.uptoSpender, TestUptoProxy)
  const waitForReceipt = (hash: Hex) => node.client.waitForTransactionReceipt({ hash, pollingInterval: 20 })

  return {
    facilitator,
    /** Mints USDC to this address, and sets whether Permit2 may transfer it. */
    async fund(address: Address, { allowed = true } = {}): Promise<void> {
      await node.mint(address, BigInt(cap))
      await node.setEther(address, 10n ** 18n)
      await node.client.impersonateAccount({ address })
      const hash = await node.client.writeContract({
        ...{ address: base.usdc.address, abi: testDollarAbi, functionName: 'approve', account: address },
        args: [permit2.address, allowed ? 10n ** 12n : 0n],
      })
      await waitForReceipt(hash)
    },
    /** Settles like a facilitator, through the contract's published interface. */
    async settle(
      { signature, permit2Authorization: permit }: UptoPermit,
      amount: number,
      by = facilitator,
      to = permit.witness.to,
    ) {
      const call = {
        ...({ address: permit2.uptoSpender, abi: proxyAbi, functionName: 'settle', account: by } as const),
        args: [
          {
            permitted: { token: permit.permitted.token, amount: BigInt(permit.permitted.amount) },
            ...{ nonce: BigInt(permit.nonce), deadline: BigInt(permit.deadline) },
          },
          BigInt(amount),
          permit.from,
          {
            to,
            facilitator: by === facilitator ? permit.witness.facilitator : by,
            validAfter: BigInt(permit.witness.validAfter),
          },
          signature,
        ],
      } as const
      await node.client.simulateContract(call) // reports the reason if the call would revert
      const hash = await node.client.writeContract(call)
      await waitForReceipt(hash)
      return hash
    },
    /**
     * Starts a seller of `upto` payments.
     * @param answer handles a payment. A returned transaction hash is reported, and undefined closes the connection
     */
    async open(answer: (permit: UptoPermit) => Promise<Hex | undefined>, over: object = {}) {
      const permits: UptoPermit[] = []
      const server = createServer(async (request, response) => {
        const header = request.headers['payment-signature']
        if (header === undefined) {
          const offer = { scheme: 'upto', network: base.id, amount: String(cap), asset: base.usdc.address, payTo }
          const extra = { facilitatorAddress: facilitator, assetTransferMethod: 'permit2' }
          const accepts = [{ ...offer, maxTimeoutSeconds: 60, extra, ...over }]
          const demand = { x402Version: 2, resource: { url: 'http://127.0.0.1/' }, accepts }
          const header = Buffer.from(JSON.stringify(demand)).toString('base64')
          return void response.writeHead(402, { 'payment-required': header }).end('{}')
        }
        const { payload } = JSON.parse(Buffer.from(String(header), 'base64').toString())
        permits.push(payload)
        const transaction = await answer(payload).catch(() => undefined)
        if (transaction === undefined) return void response.destroy()
        const receipt = { success: true, transaction, network: base.id, amount: '1' }
        response
          .writeHead(200, { 'payment-response': Buffer.from(JSON.stringify(receipt)).toString('base64') })
          .end('done')
      })
      return { ...(await createListening(server)), permits }
    },
  }
}
