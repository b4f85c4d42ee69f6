import type { Network } from '#shared/contract/sandboxes.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'

export const networks: readonly Network[] = ['none', 'internet', 'open']

const words: Record<Network, { label: string; detail: string }> = openRecord(
  {
    none: { label: 'No network', detail: 'No access to anything outside.' },
    internet: { label: 'Internet', detail: 'The public internet, but not your local network or this computer.' },
    open: { label: 'Open', detail: 'Internet and your local network, but not services on this computer.' },
  },
  (word) => ({ label: toPlainWord(word), detail: 'Unknown to this version of Steward.' }),
)

export function getNetworkLabel(network: Network): string {
  return words[network].label
}

export function getNetworkDetail(network: Network): string {
  return words[network].detail
}
