import { type EvmNetwork, findEvmNetwork, permit2, usdcDecimals } from '#shared/contract/networks.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { formatTokenAmount } from '#shared/tokenAmount.ts'
import { createInvalidIntentError, type IntentOf, type IntentTools, type ParsedIntent } from './parsedIntent.ts'
import { checkPayee, formatDuration, maxSeconds } from './paymentAuthorization.ts'
import { listPaymentFields } from './paymentFields.ts'
import { assertPlainText, shorten } from './plainText.ts'
import { toSite } from './site.ts'
import { computeTypedDataHash, serializeTypedData, type TypedData } from './typedData.ts'

const permitTypes = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'witness', type: 'Witness' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  Witness: [
    { name: 'to', type: 'address' },
    { name: 'facilitator', type: 'address' },
    { name: 'validAfter', type: 'uint256' },
  ],
} as const

/**
 * Authorizes the facilitator to move the used amount of USDC, at most `amount`, once and to this payee.
 * @see https://github.com/x402-foundation/x402/blob/main/specs/schemes/upto/scheme_upto_evm.md
 */
export async function prepareUptoPayment(
  intent: IntentOf<'x402.authorize'>,
  tools: IntentTools,
): Promise<ParsedIntent> {
  const { network: name, pay_to: payee, facilitator, description } = intent
  const network = findEvmNetwork(name)
  if (!network) throw createInvalidIntentError(`network ${JSON.stringify(name)} does not support the scheme upto.`)
  if (facilitator === undefined) throw createInvalidIntentError('facilitator is required for the scheme upto.')
  if (!/^0x[0-9a-fA-F]{40}$/.test(payee))
    throw createInvalidIntentError(`pay_to ${payee} is not a valid address on ${network.name}.`)
  for (const field of ['fee_payer', 'memo'] as const) {
    if (intent[field] !== undefined) throw createInvalidIntentError(`${field} is for payments on Solana only.`)
  }
  await checkPayee(payee, tools)
  if (/^0x0{40}$/.test(facilitator))
    throw createInvalidIntentError('facilitator is the zero address, which cannot settle.')
  const site = toSite('resource', intent.resource)
  if (description !== undefined) assertPlainText('description', description, '\n\t')
  const value = BigInt(intent.amount)
  const seconds = Math.min(intent.valid_seconds, maxSeconds)
  const account = tools.keys.account('evm', intent.account_id)
  const amount = `${formatTokenAmount(value, usdcDecimals)} USDC`
  const permit = { token: network.usdc.address, spender: permit2.uptoSpender, facilitator }
  const createMessage = ({ nonce, deadline }: { nonce: string; deadline: string }): TypedData['message'] => ({
    permitted: { token: permit.token, amount: intent.amount },
    spender: permit.spender,
    ...{ nonce, deadline },
    witness: { to: payee, facilitator, validAfter: '0' },
  })

  return {
    prepared: {
      intent: { ...intent, account_id: account.id, network: network.id, valid_seconds: seconds },
      account,
      sentence: `Pay up to ${amount} to ${shortenAddress(payee)} on ${network.name} for ${shorten(intent.resource, 80)}`,
      fields: listPaymentFields({
        ...{ intent, account, network, site, valid: `${formatDuration(seconds)} after signing` },
        amount: { label: 'At most', value: amount },
        more: [{ label: 'Settled by', value: facilitator, kind: 'address' }],
      }),
      raw: serializeTypedData(
        createTypedData(
          network,
          createMessage({
            nonce: '32 random bytes, chosen when it is signed',
            deadline: `${seconds} seconds from when it is signed`,
          }),
        ),
      ),
      host: site.host,
      amountMicroUsd: value,
    },
    async sign() {
      const nonce = BigInt(`0x${Buffer.from(tools.randomBytes(32)).toString('hex')}`).toString()
      const deadline = String(Math.floor(tools.now() / 1000) + seconds)
      const signature = await tools.signEvm(
        account,
        await computeTypedDataHash(createTypedData(network, createMessage({ nonce, deadline }))),
      )
      const authorization = {
        ...{ from: account.address, to: payee, value: intent.amount, validAfter: '0' },
        ...{ validBefore: deadline, nonce },
      }
      return { kind: intent.kind, address: account.address, signature, authorization, permit }
    },
  }
}

function createTypedData({ chainId }: EvmNetwork, message: TypedData['message']): TypedData {
  return {
    domain: { name: 'Permit2', chainId, verifyingContract: permit2.address },
    types: permitTypes,
    primaryType: 'PermitWitnessTransferFrom',
    message,
  }
}
