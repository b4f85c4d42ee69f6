import { anyServiceAccount, type WalletLinkRepository } from './walletLinkRepository.ts'

/** Sign-ins at services that are affected by a removal from the wallet, as of the last comparison. */
export type WalletUnlinking = {
  /** Addresses that can still sign in somewhere, linked by Steward or by the user. */
  findLinked(addresses: readonly string[]): { own: string[]; others: string[] }
  /** Records the addresses to unlink, in the transaction that removes them from the wallet. */
  removeAddresses(addresses: readonly string[], options: { unlinksAll: boolean }): void
}

export function createWalletUnlinking(records: WalletLinkRepository): WalletUnlinking {
  const findLinks = (addresses: readonly string[]) =>
    records.listAll().filter(({ address, state }) => addresses.includes(address) && state !== 'off')
  return {
    findLinked(addresses) {
      const links = findLinks(addresses)
      const ownAddresses = new Set(links.filter(({ isOwn }) => isOwn).map(({ address }) => address))
      const others = new Set(links.filter(({ isOwn }) => !isOwn).map(({ address }) => address))
      return { own: [...ownAddresses], others: [...others].filter((address) => !ownAddresses.has(address)) }
    },
    removeAddresses(addresses, { unlinksAll }) {
      const others = new Set<string>()
      for (const link of findLinks(addresses)) {
        others.add(link.address)
        if (link.isOwn || unlinksAll) records.set({ ...link, state: 'unlinking' })
        else records.remove(link)
      }
      // Addresses without a link may still sign in somewhere, if they were linked elsewhere or by a version that stored
      // no links.
      const compared = new Set(records.listAll().map(({ address }) => address))
      for (const address of addresses) {
        if (compared.has(address) || others.has(address)) continue
        records.set({ serviceAccount: anyServiceAccount, address, state: 'unlinking', isOwn: unlinksAll })
      }
    },
  }
}
