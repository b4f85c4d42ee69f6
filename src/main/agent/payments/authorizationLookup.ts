import type { Chain, Hex } from '#platform/chain/chain.ts'
import type { SolanaNode } from '#platform/solana/solanaNode.ts'
import { testLedgerNetwork } from '#shared/contract/networks.ts'
import { getAuthorizationState } from '#shared/contract/payments.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'

/** A signed payment, as it can be found again. */
export type Authorization = {
  network: string
  payer: string
  payTo: string
  /** Atomic units, decimal. */
  amount: string
  nonce: string
  validBeforeMs: number
  /** It was not signed before. */
  sinceMs: number
  /** Of `upto`: where the seller says that it was settled. */
  transaction?: string | null
}
export type AuthorizationState =
  /** The money moved. */
  | { state: 'used'; transaction: string | null; takenMicroUsd?: number }
  /** `isFinal`: it has expired or was cancelled, by the clock of where it is used, so the money never moves. */
  | { state: 'unused'; isFinal: boolean }
  | { state: 'unknown'; detail: string }

/** Where it can be seen whether a signed payment was used: the chain, or the ledger of test money. It never throws. */
export interface AuthorizationLookup {
  stateOf(authorization: Authorization): Promise<AuthorizationState>
}

/** A block that says it has expired may still be replaced by one that is a little earlier. */
const settledSeconds = 60

export function chainLookup(
  chains: readonly Pick<Chain, 'network' | 'authorizationOutcome' | 'permitOutcome'>[],
  now: () => number,
): AuthorizationLookup {
  return {
    async stateOf({ network, payer, payTo, amount, nonce, validBeforeMs, sinceMs, transaction }) {
      const chain = chains.find((it) => it.network.id === network)
      if (!chain) return { state: 'unknown', detail: `No node of ${network} is known.` }
      try {
        // Nonces of Permit2 are decimal, those of EIP-3009 hexadecimal.
        if (/^\d+$/.test(nonce)) {
          const told = await chain.permitOutcome({
            ...{ from: lower(payer), to: lower(payTo), amount, nonce, nowMs: now() },
            deadline: String(Math.floor(validBeforeMs / 1000) + settledSeconds),
            transaction: transaction == null ? null : lower(transaction),
          })
          if (told.state !== 'used') return { state: 'unused', isFinal: told.state === 'expired' }
          const { taken, transaction: hash } = told
          return { state: 'used', transaction: hash, ...(taken !== null && { takenMicroUsd: Number(taken) }) }
        }
        const told = await chain.authorizationOutcome({
          ...{ from: lower(payer), to: lower(payTo), value: amount, nonce: lower(nonce), sinceMs, nowMs: now() },
          validBefore: String(Math.floor(validBeforeMs / 1000) + settledSeconds),
        })
        if (told.state === 'paid') return { state: 'used', transaction: told.transaction }
        // Its nonce is gone, and nothing says that it was gone otherwise: it counts as paid.
        if (told.state === 'used') return { state: 'used', transaction: null }
        return { state: 'unused', isFinal: told.state !== 'unused' }
      } catch (failure) {
        return { state: 'unknown', detail: wordsOf(failure) }
      }
    },
  }
}

/** Of a transaction on Solana: its nonce is the block hash that it names, and the signature of the payer. */
export function solanaLookup(
  nodes: readonly Pick<SolanaNode, 'network' | 'transferOutcome'>[],
  now: () => number,
): AuthorizationLookup {
  return {
    async stateOf({ network, payer, nonce, validBeforeMs, sinceMs }) {
      const node = nodes.find((it) => it.network.id === network)
      if (!node) return { state: 'unknown', detail: `No node of ${network} is known.` }
      try {
        const [blockHash = '', signature = ''] = nonce.split(':')
        const { base58 } = await import('@scure/base')
        const asked = { payer, blockHash, signature: base58.decode(signature), sinceMs, validBeforeMs }
        const told = await node.transferOutcome(asked)
        if (told.state === 'paid') return { state: 'used', transaction: told.transaction }
        // By our own clock as well: a node's word alone never says that something has expired.
        return { state: 'unused', isFinal: told.state === 'void' && now() >= validBeforeMs }
      } catch (failure) {
        return { state: 'unknown', detail: wordsOf(failure) }
      }
    },
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
        return { state: 'unknown', detail: wordsOf(failure) }
      }
    },
  }
}

export function lookupByNetwork(given: {
  chain: AuthorizationLookup
  solana: AuthorizationLookup
  testLedger: AuthorizationLookup
}): AuthorizationLookup {
  const of = (network: string): AuthorizationLookup => {
    if (network === testLedgerNetwork.id) return given.testLedger
    return network.startsWith('solana:') ? given.solana : given.chain
  }
  return { stateOf: (it) => of(it.network).stateOf(it) }
}

function lower(hex: string): Hex {
  return hex.toLowerCase() as Hex // as the wallet signed it
}

function wordsOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure)
}
