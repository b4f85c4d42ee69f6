import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import type { ChainType } from '#shared/contract/wallet.ts'

const base58Pattern = /^[1-9A-HJ-NP-Za-km-z]+$/
const maxBase58Characters = 100

/**
 * Parses a private key as pasted by the user: 32 bytes, which the caller must overwrite. Errors never contain the
 * input.
 * @throws AppError `wallet/private-key`
 */
export async function parsePrivateKey(text: string, chainType: ChainType): Promise<Uint8Array> {
  const trimmed = text.trim()
  const hex = /^(?:0x)?([0-9a-f]{64})$/i.exec(trimmed)?.[1]
  if (hex !== undefined) return requireValidKey(parseHex(hex), chainType)
  if (chainType === 'evm') throw createInvalidKeyError('An EVM private key has 64 hexadecimal digits.')
  const bytes = trimmed.startsWith('[') ? parseByteList(trimmed) : await parseBase58(trimmed)
  if (bytes.length !== 32 && bytes.length !== 64) {
    throw createInvalidKeyError(`A Solana private key has 32 or 64 bytes, not ${bytes.length}.`)
  }
  const seed = bytes.slice(0, 32)
  const address = bytes.slice(32)
  bytes.fill(0)
  if (address.length > 0 && !Buffer.from(await toPublicKey(seed)).equals(address)) {
    seed.fill(0)
    throw createInvalidKeyError('The second half of this key is not the address of the first half.')
  }
  return seed
}

async function requireValidKey(key: Uint8Array, chainType: ChainType): Promise<Uint8Array> {
  if (chainType === 'solana') return key
  const { secp256k1 } = await import('@noble/curves/secp256k1')
  if (secp256k1.utils.isValidPrivateKey(key)) return key
  key.fill(0)
  throw createInvalidKeyError('This is not a valid private key.')
}

function parseByteList(text: string): Uint8Array {
  const list = parseJsonOrUndefined(text)
  const isByte = (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
  if (!Array.isArray(list) || !list.every(isByte))
    throw createInvalidKeyError('The list must be complete and contain only numbers from 0 to 255.')
  const bytes = Uint8Array.from(list)
  list.fill(0)
  return bytes
}

/** Does not use a Buffer, which would leave a copy in the shared pool of Node.js. */
function parseHex(digits: string): Uint8Array {
  return Uint8Array.from({ length: digits.length / 2 }, (_, index) =>
    Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16),
  )
}

async function parseBase58(text: string): Promise<Uint8Array> {
  const { base58 } = await import('@scure/base')
  if (text.length <= maxBase58Characters && base58Pattern.test(text)) return base58.decode(text)
  throw createInvalidKeyError('A Solana private key is base58, 64 hexadecimal digits, or a JSON list of bytes.')
}

async function toPublicKey(seed: Uint8Array): Promise<Uint8Array> {
  const { ed25519 } = await import('@noble/curves/ed25519')
  return ed25519.getPublicKey(seed)
}

function createInvalidKeyError(message: string): AppError {
  return new AppError('wallet/private-key', message)
}
