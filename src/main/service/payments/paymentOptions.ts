import type { CdpKey } from './cdpToken.ts'

/** How a service takes payments. */
export type PaymentOptions = {
  /** `base`, `eip155:8453` and so on. The test ledger has its own. */
  network?: string | undefined
  payTo?: string | undefined
  facilitator:
    | { kind: 'test-ledger' }
    | { kind: 'chain'; rpcUrl: string; relayerKey: `0x${string}` }
    | {
        kind: 'remote'
        url: string
        /** Where what became of a payment is looked up by ourselves. Absent: nowhere. */
        rpcUrl: string | undefined
        /** Of Coinbase's facilitator. */
        cdpKey: CdpKey | undefined
      }
}
