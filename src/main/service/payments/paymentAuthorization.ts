import type { EvmNetwork } from '#shared/contract/networks.ts'
import { isSignedByEvm } from '../base/walletSignature.ts'

/** Authorization signed by a payer (EIP-3009), normalized: hexadecimal in lower case, numbers without leading zeros. */
export type PaymentAuthorization = {
  from: `0x${string}`
  to: `0x${string}`
  value: string
  validAfter: string
  validBefore: string
  nonce: `0x${string}`
  /**
   * 65 bytes with v as 27 or 28, from an account with a key. Signatures of contracts (ERC-1271, ERC-6492) are rejected.
   */
  signature: `0x${string}`
}

export type Price = { network: EvmNetwork; payTo: string; amount: number }

/** Reason to reject a payment. `reason` is one of x402's codes, for programs. */
export type Refusal = { reason: string; message: string }

/** Remaining validity that is required, because settling takes a few seconds. */
const minRemainingSeconds = 6

/** Validates an authorization offline. @returns undefined if it is valid */
export async function validateAuthorization(
  authorization: PaymentAuthorization,
  { network, payTo, amount }: Price,
  nowMs: number,
): Promise<Refusal | undefined> {
  const { from, to, value, validAfter, validBefore } = authorization
  const nowSeconds = BigInt(Math.floor(nowMs / 1000))
  if (to !== payTo.toLowerCase())
    return createRefusal('recipient_mismatch', `The payment is to ${to}, not to ${payTo}.`)
  if (from === to) return createRefusal('recipient_mismatch', 'The payer is the payee.')
  if (value !== String(amount)) return createRefusal('authorization_value', `The payment is ${value}, not ${amount}.`)
  if (BigInt(validAfter) >= nowSeconds)
    return createRefusal('authorization_valid_after', 'The payment is not valid yet.')
  if (BigInt(validBefore) < nowSeconds + BigInt(minRemainingSeconds)) {
    return createRefusal('authorization_valid_before', 'The payment has expired, or expires before it can be settled.')
  }
  if (await isSignedByPayer(authorization, network)) return undefined
  return createRefusal('signature', 'The signature was not created by the payer. Contract signatures are not accepted.')
}

export async function isSignedByPayer(
  { signature, ...message }: PaymentAuthorization,
  { chainId, usdc }: EvmNetwork,
): Promise<boolean> {
  const { getSignPayload } = await import('ox/TypedData')
  for (const name of listNames(usdc.name)) {
    const payload = getSignPayload({
      domain: { name, version: usdc.version, chainId, verifyingContract: usdc.address },
      types: transferTypes,
      primaryType: 'TransferWithAuthorization',
      message: {
        ...message,
        value: BigInt(message.value),
        validAfter: BigInt(message.validAfter),
        validBefore: BigInt(message.validBefore),
      },
    })
    if (await isSignedByEvm({ address: message.from, payload, signature })) return true
  }
  return false
}

/**
 * Some clients sign the contract name of Base also for Base Sepolia. The chain itself decides whether it accepts the
 * signature.
 */
function listNames(name: string): string[] {
  return name === 'USDC' ? [name, 'USD Coin'] : [name]
}

const transferTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

function createRefusal(about: string, message: string): Refusal {
  return { reason: `invalid_exact_evm_payload_${about}`, message }
}
