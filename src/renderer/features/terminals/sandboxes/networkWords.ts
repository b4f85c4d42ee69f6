import type { Network } from '../../../../shared/contract/sandboxes.ts'

export const networks: readonly Network[] = ['none', 'internet', 'open']

const words: Record<Network, { label: string; detail: string }> = {
  none: { label: 'No network', detail: 'Reaches nothing beyond itself.' },
  internet: { label: 'Internet only', detail: 'Public addresses, but nothing of your local network or this machine.' },
  open: { label: 'Open', detail: 'Also your local network: what this machine reaches, but not its own services.' },
}

export function networkLabel(network: Network): string {
  return words[network].label
}

export function networkDetail(network: Network): string {
  return words[network].detail
}
