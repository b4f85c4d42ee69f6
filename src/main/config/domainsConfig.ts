import { z } from 'zod'
import { readPrivateFile } from '#platform/files/privateFile.ts'
import type { RegistrarOptions } from '#service/domains/registrars/registrar.ts'
import { AppError } from '#shared/appError.ts'

const loopback = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/
const Url = z
  .string()
  .refine(
    (text) => URL.canParse(text) && (text.startsWith('https://') || loopback.test(text)),
    'must be an https:// URL, or an http:// URL on this computer',
  )
const KeyFile = z.string().min(1, 'must name a file')

const reached = {
  sandbox: z.boolean().optional(),
  url: Url.optional(),
  order_wait_seconds: z.int().min(0).max(86_400).default(900),
}

export const RegistrarConfig = z
  .union(
    [
      z.literal('local'),
      z.strictObject({
        namesilo: z.strictObject({ api_key_file: KeyFile, payment_id: z.string().optional(), ...reached }),
      }),
      z.strictObject({
        name_com: z.strictObject({ username: z.string().min(1), api_token_file: KeyFile, ...reached }),
      }),
    ],
    'must be "local", {"namesilo": {"api_key_file"}} or {"name_com": {"username", "api_token_file"}}',
  )
  .default('local')
  .meta({
    description:
      'Registrar for new names. `"local"`: the test registry of this computer. `{"namesilo": {"api_key_file"}}` and `{"name_com": {"username", "api_token_file"}}`: a real registrar, which charges its account for orders; the file contains only the key. Options: `sandbox` uses its test system (default for a `url` on this computer), `payment_id` pays with a NameSilo card instead of its balance, `url` is another API address, `order_wait_seconds` (900) is the time to look for an unconfirmed order before it counts as failed. A real registrar accepts real payments only; a test system and the test registry accept test money only.',
  })
export type RegistrarConfig = z.output<typeof RegistrarConfig>

const addresses = {
  namesilo: { production: 'https://www.namesilo.com/api', sandbox: 'https://sandbox.namesilo.com/api' },
  name_com: { production: 'https://api.name.com', sandbox: 'https://api.dev.name.com' },
} as const

/** Converts the configuration to service options. @throws AppError `config/invalid` */
export function readRegistrarOptions(config: RegistrarConfig): RegistrarOptions {
  if (config === 'local') return { kind: 'local' }
  if ('namesilo' in config) {
    const { api_key_file: file, payment_id: paymentId, ...options } = config.namesilo
    const apiKey = readKey(file, 'namesilo.api_key_file')
    return { kind: 'namesilo', apiKey, paymentId, ...resolveAddress(addresses.namesilo, options) }
  }
  const { api_token_file: file, username, ...options } = config.name_com
  const token = readKey(file, 'name_com.api_token_file')
  return { kind: 'name.com', username, token, ...resolveAddress(addresses.name_com, options) }
}

type AddressOptions = { sandbox?: boolean | undefined; url?: string | undefined; order_wait_seconds: number }

function resolveAddress(
  addresses: { production: string; sandbox: string },
  { sandbox, url, order_wait_seconds: seconds }: AddressOptions,
) {
  const address = url ?? (sandbox ? addresses.sandbox : addresses.production)
  return { url: address, isReal: !(sandbox ?? loopback.test(address)), settlesWithinMs: seconds * 1_000 }
}

function readKey(file: string, key: string): string {
  const names = `\`domains.registrar.${key}\` names ${file}, which`
  const text = readText(file, names).trim()
  if (/^[\x21-\x7e]{8,200}$/.test(text)) return text
  throw new AppError('config/invalid', `${names} must contain only a key, on one line.`)
}

function readText(file: string, names: string): string {
  try {
    return readPrivateFile(file)
  } catch (cause) {
    throw createUnreadableError(names, cause)
  }
}

function createUnreadableError(names: string, cause: unknown): AppError {
  return new AppError('config/invalid', `${names} ${cause instanceof Error ? cause.message : 'cannot be read.'}`, {
    cause,
  })
}
