import { createCipheriv, createDecipheriv, pbkdf2, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { z } from 'zod'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import { deriveScryptKey } from './scrypt.ts'

/** @see https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage */
const createHexSchema = (maxDigits: number) =>
  z
    .string()
    .regex(/^(?:0x)?(?:[0-9a-fA-F]{2})+$/)
    .max(maxDigits)
    .transform((text) => Buffer.from(text.replace(/^0x/, ''), 'hex'))

/** Limits of eight times the highest cost that common programs use. */
const maxScryptBytes = 512 * 1024 ** 2
const maxScryptWork = 2 ** 24
const dklen = z.int().min(32).max(128)
const Kdf = z.discriminatedUnion('kdf', [
  z.object({
    kdf: z.literal('scrypt'),
    kdfparams: z
      .object({
        dklen,
        n: z
          .int()
          .min(2)
          .max(2 ** 24),
        r: z.int().min(1).max(64),
        p: z.int().min(1).max(64),
        salt: createHexSchema(512),
      })
      .refine(({ n }) => Number.isInteger(Math.log2(n)))
      .refine(({ n, r, p }) => 128 * n * r <= maxScryptBytes && n * r * p <= maxScryptWork),
  }),
  z.object({
    kdf: z.literal('pbkdf2'),
    kdfparams: z.object({
      dklen,
      c: z.int().min(1).max(10_000_000),
      prf: z.literal('hmac-sha256'),
      salt: createHexSchema(512),
    }),
  }),
])
const Crypto = z
  .object({
    cipher: z.literal('aes-128-ctr'),
    ciphertext: createHexSchema(128),
    cipherparams: z.object({ iv: createHexSchema(34) }),
    mac: createHexSchema(66),
  })
  .and(Kdf)
const Keystore = z.object({
  version: z.literal(3),
  crypto: Crypto,
  address: z.string().optional(),
})

const maxCharacters = 64 * 1024
const cost = { n: 2 ** 17, r: 8, p: 1 } as const
const pbkdf2Bytes = promisify(pbkdf2)

/**
 * Decrypts the key, 32 bytes. The caller must overwrite it.
 * @returns the key, and the address in the file, if any
 * @throws AppError `wallet/keystore`
 */
export async function openKeystore(
  json: string,
  password: string,
): Promise<{ key: Uint8Array; address: string | undefined }> {
  const { crypto, address } = parseKeystore(json)
  // Some programs normalize a password, others do not.
  for (const text of new Set([password, password.normalize('NFKC')])) {
    const key = await decryptKey(crypto, text)
    if (key) return { key, address }
  }
  throw createInvalidKeystoreError('Wrong password for this file.')
}

/** @param options.address checksummed address (EIP-55) */
export async function makeKeystore(key: Uint8Array, options: { password: string; address: string }): Promise<string> {
  const { keccak_256 } = await import('@noble/hashes/sha3')
  const salt = randomBytes(32)
  const iv = randomBytes(16)
  const secret = Buffer.from(options.password.normalize('NFKC'))
  const derived = await deriveScryptKey(secret, salt, { ...cost, bytes: 32 })
  secret.fill(0)
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(key), cipher.final()])
  const mac = keccak_256(Buffer.concat([derived.subarray(16, 32), ciphertext]))
  derived.fill(0)
  return JSON.stringify(
    {
      version: 3,
      id: randomUUID(),
      address: options.address.replace(/^0x/, '').toLowerCase(),
      crypto: {
        cipher: 'aes-128-ctr',
        cipherparams: { iv: iv.toString('hex') },
        ciphertext: ciphertext.toString('hex'),
        kdf: 'scrypt',
        kdfparams: { dklen: 32, ...cost, salt: salt.toString('hex') },
        mac: Buffer.from(mac).toString('hex'),
      },
    },
    null,
    2,
  )
}

/** Returns the common file name of a keystore. */
export function toKeystoreName(address: string, nowMs: number): string {
  const timestamp = new Date(nowMs).toISOString().replaceAll(':', '-')
  return `UTC--${timestamp}--${address.replace(/^0x/, '').toLowerCase()}.json`
}

function parseKeystore(json: string): z.infer<typeof Keystore> {
  if (json.length > maxCharacters) throw createInvalidKeystoreError('This file is too large to be a keystore.')
  const object = z.record(z.string(), z.unknown()).safeParse(parseJsonOrUndefined(json))
  if (!object.success) throw createInvalidKeystoreError('This file is not a keystore.')
  const { Crypto: old, ...rest } = object.data
  if (rest.version !== 3) throw createInvalidKeystoreError('Only version 3 keystores can be imported.')
  const keystore = Keystore.safeParse(old === undefined ? rest : { crypto: old, ...rest })
  if (keystore.success) return keystore.data
  const fieldPath = keystore.error.issues[0]?.path.join('.') ?? ''
  throw createInvalidKeystoreError(
    `This keystore cannot be opened: \`${fieldPath}\` is missing or not valid in Keystore V3.`,
  )
}

async function decryptKey(crypto: z.infer<typeof Crypto>, password: string): Promise<Uint8Array | undefined> {
  const { keccak_256 } = await import('@noble/hashes/sha3')
  const secret = Buffer.from(password)
  const derived = await deriveKey(secret, crypto)
  secret.fill(0)
  try {
    const { ciphertext, mac, cipherparams } = crypto
    const expected = Buffer.from(keccak_256(Buffer.concat([derived.subarray(16, 32), ciphertext])))
    if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) return undefined
    if (ciphertext.length !== 32)
      throw createInvalidKeystoreError('This keystore does not contain a 32-byte private key.')
    if (cipherparams.iv.length !== 16)
      throw createInvalidKeystoreError('The initialization vector of this keystore has the wrong length.')
    const cipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), cipherparams.iv)
    const plain = cipher.update(ciphertext)
    const key = Uint8Array.from(plain)
    plain.fill(0)
    return key
  } finally {
    derived.fill(0)
  }
}

function deriveKey(secret: Buffer, kdf: z.infer<typeof Kdf>): Promise<Buffer> {
  if (kdf.kdf === 'pbkdf2') {
    const { c, dklen: bytes, salt } = kdf.kdfparams
    return pbkdf2Bytes(secret, salt, c, bytes, 'sha256')
  }
  const { n, r, p, dklen: bytes, salt } = kdf.kdfparams
  return deriveScryptKey(secret, salt, { n, r, p, bytes })
}

function createInvalidKeystoreError(message: string): AppError {
  return new AppError('wallet/keystore', message)
}
