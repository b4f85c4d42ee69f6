type Field = { name: string; type: string }

/** EIP-712 typed data with JSON values. Integers are decimal text. */
export type TypedData = {
  domain: { name: string; version?: string; chainId: number; verifyingContract?: `0x${string}` }
  types: Readonly<Record<string, readonly Field[]>>
  primaryType: string
  message: Message
}
type Message = { readonly [name: string]: string | Message }

/** Hashes typed data: keccak256 of 0x1901, the domain's hash and the message's hash. */
export async function computeTypedDataHash({ domain, types, primaryType, message }: TypedData): Promise<`0x${string}`> {
  const { getSignPayload } = await import('ox/TypedData')
  return getSignPayload({ domain, types, primaryType, message })
}

/** Serializes to the format of `eth_signTypedData_v4`. */
export function serializeTypedData({ domain, types, primaryType, message }: TypedData): string {
  const named: Field[] = [
    { name: 'name', type: 'string' },
    ...(domain.version === undefined ? [] : [{ name: 'version', type: 'string' }]),
    { name: 'chainId', type: 'uint256' },
    ...(domain.verifyingContract === undefined ? [] : [{ name: 'verifyingContract', type: 'address' }]),
  ]
  return JSON.stringify({ types: { EIP712Domain: named, ...types }, domain, primaryType, message }, null, 2)
}
