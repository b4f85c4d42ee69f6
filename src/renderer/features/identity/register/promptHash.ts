/** keccak256, as the profile itself is hashed; 0x-hexadecimal. Computed in this window, where the prompt stays. */
export async function promptHash(prompt: Uint8Array): Promise<`0x${string}`> {
  const [{ keccak_256 }, { bytesToHex }] = await Promise.all([
    import('@noble/hashes/sha3'),
    import('@noble/hashes/utils'),
  ])
  return `0x${bytesToHex(keccak_256(prompt))}`
}

export function hashText(text: string): Promise<`0x${string}`> {
  return promptHash(new TextEncoder().encode(text))
}
