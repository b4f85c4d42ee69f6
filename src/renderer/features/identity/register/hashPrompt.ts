/**
 * Returns the keccak256 hash of a prompt as 0x-prefixed hexadecimal, as used for the profile. Computed in this window,
 * so that the prompt is not transmitted.
 */
export async function hashPrompt(prompt: Uint8Array): Promise<`0x${string}`> {
  const [{ keccak_256 }, { bytesToHex }] = await Promise.all([
    import('@noble/hashes/sha3'),
    import('@noble/hashes/utils'),
  ])
  return `0x${bytesToHex(keccak_256(prompt))}`
}

export function hashText(text: string): Promise<`0x${string}`> {
  return hashPrompt(new TextEncoder().encode(text))
}
