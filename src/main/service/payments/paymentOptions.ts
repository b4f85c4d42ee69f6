import type { CdpKey } from './cdpToken.ts'

/** Payments that a service accepts. */
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
        /** Node for looking up outcomes of payments. Default: none. */
        rpcUrl: string | undefined
        /** Credentials of Coinbase's facilitator. */
        cdpKey: CdpKey | undefined
      }
}
