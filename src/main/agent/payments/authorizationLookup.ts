import { z } from 'zod'
import { type EvmNetwork, evmNetworks, testLedgerNetwork } from '../../../shared/contract/networks.ts'
import { getAuthorizationState } from '../../../shared/contract/payments.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { EvmRpc } from '../wallet/evmRpc.ts'

export type Authorization = { network: string; payer: string; nonce: string; validBeforeMs: number }
export type AuthorizationState =
  | { state: 'used'; transaction: string | null }
  /** `isFinal`: by the clock of where it is used it has expired, so it never will be. */
  | { state: 'unused'; isFinal: boolean }
  | { state: 'unknown'; detail: string }

/** Where it can be seen whether a signed payment was used: the chain, or the ledger of test money. It never throws. */
export interface AuthorizationLookup {
  stateOf(authorization: Authorization): Promise<AuthorizationState>
  close(): Promise<void>
}

/** A block that says it has expired may still be replaced by one that is a little earlier. */
const settledSeconds = 60
type Hex = `0x${string}`

const Block = z.looseObject({
  timestamp: z.string().regex(/^0x[0-9a-f]{1,16}$/),
  number: z.string().regex(/^0x[0-9a-f]{1,16}$/),
})
const Logs = z.array(z.looseObject({ transactionHash: z.string().regex(/^0x[0-9a-f]{64}$/) }))

/** @param rpcOf undefined where no node of that network is known */
export function chainLookup(rpcOf: (network: EvmNetwork) => EvmRpc | undefined): AuthorizationLookup {
  const opened = new Set<EvmRpc>()
  return {
    async stateOf({ network: id, payer, nonce, validBeforeMs }) {
      const network = evmNetworks.find((it) => it.id === id)
      const rpc = network && rpcOf(network)
      if (!network || !rpc) return { state: 'unknown', detail: `No node of ${id} is known.` }
      opened.add(rpc)
      try {
        const chain = await rpc.call('eth_chainId', [])
        if (Number(chain) !== network.chainId) throw new Error(`${rpc.host} is of another network.`)
        // One block for both questions: its time is the time that the contract compares with.
        const block = Block.parse(await rpc.call('eth_getBlockByNumber', ['latest', false]))
        const { encodeData, decodeResult, from } = await import('ox/AbiFunction')
        const isUsed = from('function authorizationState(address authorizer, bytes32 nonce) view returns (bool used)')
        const data = encodeData(isUsed, [payer as Hex, nonce as Hex]) // as the wallet signed them
        const answer = await rpc.call('eth_call', [{ to: network.usdc.address, data }, block.number])
        if (typeof answer !== 'string' || !/^0x[0-9a-f]{64}$/.test(answer))
          throw new Error(`${rpc.host} gave no answer.`)
        if (decodeResult(isUsed, answer as Hex)) {
          return { state: 'used', transaction: await transactionOf(rpc, { network, payer, nonce, block }) }
        }
        const isFinal = Number(block.timestamp) >= validBeforeMs / 1000 + settledSeconds
        return { state: 'unused', isFinal }
      } catch (failure) {
        return { state: 'unknown', detail: failure instanceof Error ? failure.message : String(failure) }
      }
    },
    close: async () => {
      await Promise.all([...opened].map((rpc) => rpc.close()))
    },
  }
}

type Place = { network: EvmNetwork; payer: string; nonce: string; block: z.infer<typeof Block> }

/** Blocks back: nodes refuse longer stretches. */
const farBack = 2_000n

/** As the token recorded it; null where the node does not tell. */
async function transactionOf(rpc: EvmRpc, { network, payer, nonce, block }: Place): Promise<string | null> {
  try {
    const { encode, from } = await import('ox/AbiEvent')
    const event = from('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')
    const { topics } = encode(event, { authorizer: payer as Hex, nonce: nonce as Hex })
    const last = BigInt(block.number)
    const fromBlock = `0x${(last > farBack ? last - farBack : 0n).toString(16)}`
    const logs = Logs.parse(
      await rpc.call('eth_getLogs', [{ address: network.usdc.address, topics, fromBlock, toBlock: block.number }]),
    )
    return logs.at(-1)?.transactionHash ?? null
  } catch {
    return null // that it was used is known all the same
  }
}

/** The ledger of test money is asked at the service that keeps it. */
export function testLedgerLookup(client: Pick<ServiceClient, 'call'>): AuthorizationLookup {
  return {
    async stateOf({ payer, nonce, validBeforeMs }) {
      try {
        const { used, transaction, at } = await client.call(getAuthorizationState, { address: payer, nonce })
        if (used) return { state: 'used', transaction }
        return { state: 'unused', isFinal: Date.parse(at) >= validBeforeMs }
      } catch (failure) {
        return { state: 'unknown', detail: failure instanceof Error ? failure.message : String(failure) }
      }
    },
    close: async () => {},
  }
}

export function lookupByNetwork(given: {
  chain: AuthorizationLookup
  testLedger: AuthorizationLookup
}): AuthorizationLookup {
  return {
    stateOf: (it) => (it.network === testLedgerNetwork.id ? given.testLedger : given.chain).stateOf(it),
    async close() {
      await Promise.all([given.chain.close(), given.testLedger.close()])
    },
  }
}
