import {
  type EvmNetwork,
  evmNetworks,
  findEvmNetwork,
  testLedgerNetwork,
  usdcDecimals,
} from '#shared/contract/networks.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { formatTokenAmount } from '#shared/tokenAmount.ts'
import { hasWrongChecksum, isSameEvmAddress } from './evmSignature.ts'
import { createInvalidIntentError, type IntentOf, type IntentTools, type ParsedIntent } from './parsedIntent.ts'
import { listPaymentFields } from './paymentFields.ts'
import { assertPlainText, shorten } from './plainText.ts'
import { toSite } from './site.ts'
import { computeTypedDataHash, serializeTypedData, type TypedData } from './typedData.ts'

/**
 * Maximum lifetime of an authorization in seconds, regardless of the seller's request. Unused authorizations are void
 * after it.
 */
export const maxSeconds = 300

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

/**
 * Authorizes one transfer of USDC to this payee by any holder of the signature (EIP-3009).
 * @see https://eips.ethereum.org/EIPS/eip-3009
 */
export async function preparePaymentAuthorization(
  intent: IntentOf<'x402.authorize'>,
  tools: IntentTools,
): Promise<ParsedIntent> {
  const network = findNetwork(intent, tools)
  if (!/^0x[0-9a-fA-F]{40}$/.test(intent.pay_to)) {
    throw createInvalidIntentError(
      `pay_to must be 0x and 40 hexadecimal digits on ${network.name}, not ${intent.pay_to}.`,
    )
  }
  for (const name of ['fee_payer', 'memo'] as const) {
    if (intent[name] !== undefined) throw createInvalidIntentError(`${name} is for payments on Solana only.`)
  }
  await checkPayee(intent.pay_to, tools)
  const site = toSite('resource', intent.resource)
  const { description } = intent
  if (description !== undefined) assertPlainText('description', description, '\n\t')
  const value = BigInt(intent.amount)
  if (value <= 0n) throw createInvalidIntentError(`amount must be above 0, not ${intent.amount}.`)
  const seconds = Math.min(intent.valid_seconds, maxSeconds)
  const account = tools.keys.account('evm', intent.account_id)
  const amount = `${formatTokenAmount(value, usdcDecimals)} USDC`
  const transfer = { from: account.address, to: intent.pay_to, value: intent.amount, validAfter: '0' }

  return {
    prepared: {
      intent: { ...intent, account_id: account.id, network: network.id, valid_seconds: seconds },
      account,
      sentence: `Pay ${amount} to ${shortenAddress(intent.pay_to)} on ${network.name} for ${shorten(intent.resource, 80)}`,
      fields: listPaymentFields({
        ...{ intent, account, network, site, valid: `${formatDuration(seconds)} after signing` },
        amount: { label: 'Amount', value: amount },
      }),
      raw: serializeTypedData(
        createTypedData(network, {
          ...transfer,
          validBefore: `${seconds} seconds from when it is signed`,
          nonce: '32 random bytes, chosen when it is signed',
        }),
      ),
      host: site.host,
      amountMicroUsd: value,
    },
    async sign() {
      const authorization = {
        ...transfer,
        validBefore: String(Math.floor(tools.now() / 1000) + seconds),
        nonce: `0x${Buffer.from(tools.randomBytes(32)).toString('hex')}`,
      }
      const signature = await tools.signEvm(
        account,
        await computeTypedDataHash(createTypedData(network, authorization)),
      )
      return { kind: intent.kind, address: account.address, signature, authorization }
    },
  }
}

/**
 * Finds the network. Test money is signed only for this application's service, because others could use the signature.
 */
function findNetwork({ network: name, resource }: IntentOf<'x402.authorize'>, tools: IntentTools): EvmNetwork {
  const network = findEvmNetwork(name)
  if (network) return network
  if (name !== testLedgerNetwork.id)
    throw createInvalidIntentError(`network ${JSON.stringify(name)} is not a supported network.`)
  const origin = tools.testLedgerOrigin?.()
  if (origin !== undefined && URL.parse(resource)?.origin === URL.parse(origin)?.origin) return testLedgerNetwork
  throw createInvalidIntentError(
    'network is the test ledger, which is only for payments to the service of this application.',
  )
}

function createTypedData({ usdc, chainId }: EvmNetwork, message: TypedData['message']): TypedData {
  return {
    domain: { name: usdc.name, version: usdc.version, chainId, verifyingContract: usdc.address },
    types: transferTypes,
    primaryType: 'TransferWithAuthorization',
    message,
  }
}

export async function checkPayee(payee: string, { keys }: IntentTools): Promise<void> {
  if (/^0x0{40}$/.test(payee)) throw createInvalidIntentError('pay_to is the zero address: the money would be lost.')
  const token = [...evmNetworks, testLedgerNetwork].find(({ usdc }) => isSameEvmAddress(usdc.address, payee))
  if (token)
    throw createInvalidIntentError(`pay_to ${payee} is the USDC contract on ${token.name}: the money would be lost.`)
  const ownAccount = keys
    .accounts()
    .find(({ chainType, address }) => chainType === 'evm' && isSameEvmAddress(address, payee))
  if (ownAccount)
    throw createInvalidIntentError(`pay_to ${payee} is “${ownAccount.label}” of this wallet: you would pay yourself.`)
  if (await hasWrongChecksum(payee))
    throw createInvalidIntentError(`pay_to ${payee} has a wrong checksum: it may be mistyped.`)
}

export function formatDuration(seconds: number): string {
  if (seconds < 60 || seconds % 60 !== 0) return `${seconds} seconds`
  return seconds === 60 ? '1 minute' : `${seconds / 60} minutes`
}
