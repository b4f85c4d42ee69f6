import { z } from 'zod'
import { readPrivateFile } from '#platform/files/privateFile.ts'
import { isLoopback } from '#platform/net/listenAddress.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import type { CdpKey } from '#service/payments/cdpToken.ts'
import type { PaymentOptions } from '#service/payments/paymentOptions.ts'
import { AppError } from '#shared/appError.ts'
import { evmNetworks } from '#shared/contract/networks.ts'
import { parseCdpKey } from './cdpKey.ts'

const names = evmNetworks.flatMap(({ slug, id }) => [slug, id])
const Address = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })

export const PaymentsConfig = z
  .strictObject({
    network: z
      .enum(names, `must be ${names.join(', ')}`)
      .nullable()
      .default(null)
      .meta({
        description: 'Network for USDC payments: `base` or `base-sepolia`. The test ledger has a separate network.',
      }),
    pay_to: z
      .string()
      .regex(/^0x(?!0{40}$)[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hexadecimal digits')
      .nullable()
      .default(null)
      .meta({ description: 'Address that receives the payments.' }),
    facilitator: z
      .union(
        [
          z.literal('test-ledger'),
          z.strictObject({ rpc_url: Address, relayer_key_file: z.string().min(1) }),
          z
            .strictObject({ url: Address, rpc_url: Address.optional(), cdp_key_file: z.string().min(1).optional() })
            .refine(({ url, cdp_key_file }) => cdp_key_file === undefined || isPrivateUrl(url), {
              error: 'must have an https:// `url` with `cdp_key_file`',
            }),
        ],
        'must be "test-ledger", {"rpc_url", "relayer_key_file"} or {"url"}',
      )
      .nullable()
      .default(null)
      .meta({
        description:
          'Facilitator that settles x402 payments. `"test-ledger"`: worthless test money of this service; the default for the service of the application. Other services accept no payments by default. `{"rpc_url", "relayer_key_file"}`: a chain; the file contains a private key that pays for gas. `{"url"}`: a remote facilitator. With an additional `rpc_url`, Steward looks up unknown outcomes on the chain. With `cdp_key_file`, Steward signs requests with that Coinbase API key. Key files must be readable only by the service (`chmod 600`).',
      }),
  })
  .refine(
    ({ facilitator, network, pay_to }) =>
      facilitator === null || facilitator === 'test-ledger' || (network !== null && pay_to !== null),
    { error: 'needs `network` and `pay_to` for this facilitator' },
  )
  .prefault({})
export type PaymentsConfig = z.output<typeof PaymentsConfig>

/**
 * Converts the configuration to service options.
 * @param embedded whether the service runs in the application
 * @throws AppError `config/invalid`
 */
export function readPaymentOptions(config: PaymentsConfig, embedded: boolean): PaymentOptions | undefined {
  const { network, pay_to, facilitator } = config
  const target = { network: network ?? undefined, payTo: pay_to ?? undefined }
  if (facilitator === 'test-ledger' || (facilitator === null && embedded)) {
    return { ...target, facilitator: { kind: 'test-ledger' } }
  }
  if (facilitator === null) return undefined
  if ('url' in facilitator) {
    const { url, rpc_url: rpcUrl, cdp_key_file: file } = facilitator
    const key = file === undefined ? undefined : readCdpKey(file)
    return { ...target, facilitator: { kind: 'remote', url, rpcUrl, cdpKey: key } }
  }
  const { rpc_url: rpcUrl, relayer_key_file: file } = facilitator
  return { ...target, facilitator: { kind: 'chain', rpcUrl, relayerKey: readRelayerKey(file) } }
}

function readRelayerKey(file: string): `0x${string}` {
  const names = `\`payments.facilitator.relayer_key_file\` names ${file}, which`
  const digits = /^(0x)?([0-9a-fA-F]{64})$/.exec(readText(file, names).trim())?.[2]
  if (digits === undefined)
    throw new AppError('config/invalid', `${names} does not contain a private key of 64 hexadecimal digits.`)
  return `0x${digits.toLowerCase()}`
}

/** Key file of the Coinbase Developer Platform: `id` and `privateKey`, or `name` in older files. */
const CdpKeyFile = z.union([
  z.object({ id: z.string().min(1), privateKey: z.string() }),
  z
    .object({ name: z.string().min(1), privateKey: z.string() })
    .transform(({ name, privateKey }) => ({ id: name, privateKey })),
])

function readCdpKey(file: string): CdpKey {
  const names = `\`payments.facilitator.cdp_key_file\` names ${file}, which`
  const read = CdpKeyFile.safeParse(parseJsonOrUndefined(readText(file, names)))
  if (!read.success)
    throw new AppError('config/invalid', `${names} is not an API key in JSON with \`id\` and \`privateKey\`.`)
  try {
    return parseCdpKey(read.data.id, read.data.privateKey)
  } catch (cause) {
    throw createInvalidError(`${names} does not contain a key.`, cause)
  }
}

function readText(file: string, names: string): string {
  try {
    return readPrivateFile(file)
  } catch (cause) {
    throw createInvalidError(names, cause)
  }
}

function createInvalidError(message: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : 'cannot be read.'
  return new AppError('config/invalid', `${message} ${reason}`, { cause })
}

/**
 * Whether requests to the URL are encrypted or stay on this computer. Otherwise an eavesdropper could use their token.
 */
function isPrivateUrl(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || isLoopback(hostname)
}
