/** As people tell addresses apart, with four characters at each end: `0x1234…abcd`, of Solana `7EcD…FLtV`. */
export function shortenAddress(address: string): string {
  return `${address.slice(0, address.startsWith('0x') ? 6 : 4)}…${address.slice(-4)}`
}
