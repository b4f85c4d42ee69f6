import type { CdpKey } from './cdpToken.ts'

export type PaymentOptions = {
  /** Network such as `base` or `eip155:8453`. The test ledger has a separate one. */
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
