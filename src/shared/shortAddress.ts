/** Shortens an address to four characters at each end: `0x1234…abcd`, or `7EcD…FLtV` for Solana. */
export function shortenAddress(address: string): string {
  return `${address.slice(0, address.startsWith('0x') ? 6 : 4)}…${address.slice(-4)}`
}
