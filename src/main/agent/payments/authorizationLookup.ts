import type { Chain, Hex } from '#platform/chain/chain.ts'
import type { SolanaNode } from '#platform/solana/solanaNode.ts'
import { testLedgerNetwork } from '#shared/contract/networks.ts'
import { getAuthorizationState } from '#shared/contract/payments.ts'
import type { AuthorizationLookup } from '../base/authorizations.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'

/** Margin after the expiry, because a block may still be replaced by a slightly earlier one. */
const finalityMarginSeconds = 60

export function createChainLookup(
  chains: readonly Pick<Chain, 'network' | 'authorizationOutcome' | 'permitOutcome'>[],
  now: () => number,
): AuthorizationLookup {
  return {
    async findState({ network, payer, payTo, amount, nonce, validBeforeMs, sinceMs, transaction }) {
      const chain = chains.find((it) => it.network.id === network)
      if (!chain) return { state: 'unknown', detail: `No RPC endpoint is configured for ${network}.` }
      try {
        // Permit2 nonces are decimal; EIP-3009 nonces are hexadecimal.
        if (/^\d+$/.test(nonce)) {
          const outcome = await chain.permitOutcome({
            ...{ from: lower(payer), to: lower(payTo), amount, nonce, nowMs: now() },
            deadline: String(Math.floor(validBeforeMs / 1000) + finalityMarginSeconds),
            transaction: transaction == null ? null : lower(transaction),
          })
          if (outcome.state !== 'used') return { state: 'unused', isFinal: outcome.state === 'expired' }
          const { settledAmount, transaction: hash } = outcome
          return {
            state: 'used',
            transaction: hash,
            ...(settledAmount !== null && { settledMicroUsd: Number(settledAmount) }),
          }
        }
        const outcome = await chain.authorizationOutcome({
          ...{ from: lower(payer), to: lower(payTo), value: amount, nonce: lower(nonce), sinceMs, nowMs: now() },
          validBefore: String(Math.floor(validBeforeMs / 1000) + finalityMarginSeconds),
        })
        if (outcome.state === 'paid') return { state: 'used', transaction: outcome.transaction }
        // The nonce is used and no cancellation is known, so the payment counts as settled.
        if (outcome.state === 'used') return { state: 'used', transaction: null }
        return { state: 'unused', isFinal: outcome.state !== 'unused' }
      } catch (error) {
        return { state: 'unknown', detail: toReason(error) }
      }
    },
  }
}

/** Looks up Solana transactions by their recent blockhash and the payer's signature. */
export function createSolanaLookup(
  nodes: readonly Pick<SolanaNode, 'network' | 'transferOutcome'>[],
  now: () => number,
): AuthorizationLookup {
  return {
    async findState({ network, payer, nonce, validBeforeMs, sinceMs }) {
      const node = nodes.find((it) => it.network.id === network)
      if (!node) return { state: 'unknown', detail: `No RPC endpoint is configured for ${network}.` }
      try {
        const [blockHash = '', signature = ''] = nonce.split(':')
        const { base58 } = await import('@scure/base')
        const query = { payer, blockHash, signature: base58.decode(signature), sinceMs, validBeforeMs }
        const outcome = await node.transferOutcome(query)
        if (outcome.state === 'paid') return { state: 'used', transaction: outcome.transaction }
        // Also compares the local clock, because a node's response is not sufficient to consider a transaction expired.
        return { state: 'unused', isFinal: outcome.state === 'void' && now() >= validBeforeMs }
      } catch (error) {
        return { state: 'unknown', detail: toReason(error) }
      }
    },
  }
}

/** Looks up test money in the ledger of the service. The state is unknown while another service is connected. */
export function createTestLedgerLookup(
  client: Pick<ServiceClient, 'call'>,
  connectedService: string,
): AuthorizationLookup {
  return {
    async findState({ payer, nonce, validBeforeMs, service = connectedService }) {
      if (service !== connectedService)
        return { state: 'unknown', detail: 'This test money belongs to another service.' }
      try {
        const { used, transaction, at: usedAt } = await client.call(getAuthorizationState, { address: payer, nonce })
        if (used) return { state: 'used', transaction }
        return { state: 'unused', isFinal: Date.parse(usedAt) >= validBeforeMs }
      } catch (error) {
        return { state: 'unknown', detail: toReason(error) }
      }
    },
  }
}

export function lookupByNetwork(options: {
  chain: AuthorizationLookup
  solana: AuthorizationLookup
  testLedger: AuthorizationLookup
}): AuthorizationLookup {
  const getLookup = (network: string): AuthorizationLookup => {
    if (network === testLedgerNetwork.id) return options.testLedger
    return network.startsWith('solana:') ? options.solana : options.chain
  }
  return { findState: (authorization) => getLookup(authorization.network).findState(authorization) }
}

function lower(hex: string): Hex {
  return hex.toLowerCase() as Hex // case as signed by the wallet
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
