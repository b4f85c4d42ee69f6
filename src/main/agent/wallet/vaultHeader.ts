import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { seal, unseal } from '#platform/secrets/seal.ts'
import { AppError } from '#shared/appError.ts'
import { toPassphraseBytes } from './passphrases.ts'
import { deriveScryptKey } from './scrypt.ts'

const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value))

/**
 * Header of the vault. The passphrase derives a key that unwraps the data key, which encrypts each secret. A new
 * passphrase rewraps the same data key. The bounds reject a modified file that would make guessing cheap, or unlocking
 * endless.
 */
const Header = z.strictObject({
  version: z.literal(1),
  kdf: z.strictObject({
    name: z.literal('scrypt'),
    n: z
      .int()
      .min(2 ** 14)
      .max(2 ** 20)
      .refine(isPowerOfTwo),
    r: z.literal(8),
    p: z.int().min(1).max(4),
    salt: z.base64().length(44),
  }),
  data_key: z.string().max(200),
  /** Names of all secrets, so that a secret without a row in the database can be found. */
  names: z.array(z.string().regex(/^keys_[0-9a-f]{24}$/)).max(24),
  /** Binds `names` to the data key. */
  names_seal: z.string().max(200),
  /** SHA-256 of all fields above. Distinguishes damage from a wrong passphrase. Not a protection against tampering. */
  checksum: z.string(),
})
export type VaultHeader = z.infer<typeof Header>

/** Default cost: 128 MiB and most of a second per guess. @see https://www.rfc-editor.org/rfc/rfc7914 */
export const fullCost: HeaderCost = { n: 2 ** 17, r: 8, p: 1 }
const saltBytes = 32
const keyBytes = 32
const namesAbout = (names: readonly string[]): string => `steward-wallet/1 names ${names.join(' ')}`

/** Maximum number of keyrings whose names fit in one keychain entry. */
export const maxKeyrings = 24

export type HeaderCost = Pick<VaultHeader['kdf'], 'n' | 'r' | 'p'>
type Wrapped = { dataKey: Buffer; passphrase: string; names: readonly string[]; cost: HeaderCost }

export async function wrapDataKey({ dataKey, passphrase, names, cost }: Wrapped): Promise<VaultHeader> {
  const salt = randomBytes(saltBytes)
  const kdf = { name: 'scrypt', ...cost, salt: salt.toString('base64') } as const
  const wrapping = await deriveWrappingKey(passphrase, kdf)
  try {
    return withNames({ version: 1, kdf, data_key: seal(wrapping, dataKey, keyAbout(kdf)) }, dataKey, names)
  } finally {
    wrapping.fill(0)
  }
}

type Base = Pick<VaultHeader, 'version' | 'kdf' | 'data_key'>

export function withNames({ version, kdf, data_key }: Base, dataKey: Buffer, names: readonly string[]): VaultHeader {
  const names_seal = seal(dataKey, Buffer.alloc(0), namesAbout(names))
  const content = { version, kdf, data_key, names: [...names], names_seal }
  return { ...content, checksum: computeChecksum(content) }
}

/** @throws AppError `wallet/damaged` */
export function parseHeader(text: string): VaultHeader {
  const parsed = Header.safeParse(parseJsonOrUndefined(text))
  if (!parsed.success) throw createDamagedError()
  const { checksum, ...content } = parsed.data
  if (computeChecksum(content) !== checksum) throw createDamagedError()
  return parsed.data
}

/** Unwraps the data key. The caller must overwrite it. @throws AppError `wallet/passphrase`, `wallet/damaged` */
export async function unwrapDataKey(header: VaultHeader, passphrase: string): Promise<Buffer> {
  const wrapping = await deriveWrappingKey(passphrase, header.kdf)
  const dataKey = unseal(wrapping, header.data_key, keyAbout(header.kdf))
  wrapping.fill(0)
  if (!dataKey) throw new AppError('wallet/passphrase', 'Wrong passphrase.')
  if (dataKey.length === keyBytes && unseal(dataKey, header.names_seal, namesAbout(header.names))) return dataKey
  dataKey.fill(0)
  throw createDamagedError()
}

export function createDataKey(): Buffer {
  return randomBytes(keyBytes)
}

async function deriveWrappingKey(passphrase: string, { n, r, p, salt }: VaultHeader['kdf']): Promise<Buffer> {
  const bytes = toPassphraseBytes(passphrase)
  try {
    return await deriveScryptKey(bytes, Buffer.from(salt, 'base64'), { n, r, p, bytes: keyBytes })
  } finally {
    bytes.fill(0)
  }
}

function keyAbout({ name, n, r, p, salt }: VaultHeader['kdf']): string {
  return `steward-wallet/1 data-key ${name} ${n} ${r} ${p} ${salt}`
}

function computeChecksum({ version, kdf, data_key, names, names_seal }: Omit<VaultHeader, 'checksum'>): string {
  const { name, n, r, p, salt } = kdf
  const text = JSON.stringify([version, name, n, r, p, salt, data_key, names, names_seal])
  return createHash('sha256').update(text).digest('base64')
}

function createDamagedError(): AppError {
  return new AppError('wallet/damaged', 'The wallet file is damaged: it was changed or is incomplete.')
}
