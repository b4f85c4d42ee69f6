import { deriveTokenAccount, isOnCurve, parseSolanaKey, solanaPrograms } from '#platform/solana/solanaAddresses.ts'
import { serializeTransaction } from '#platform/solana/solanaTransaction.ts'
import { findSolanaNetwork, solanaNetworks, usdcDecimals } from '#shared/contract/networks.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { formatTokenAmount } from '#shared/tokenAmount.ts'
import {
  createInvalidIntentError,
  type IntentField,
  type IntentOf,
  type IntentTools,
  type ParsedIntent,
} from './parsedIntent.ts'
import { listPaymentFields } from './paymentFields.ts'
import { assertPlainText, shorten } from './plainText.ts'
import { toSite } from './site.ts'
import { signSolana } from './solanaSignature.ts'
import { buildTransferMessage } from './solanaTransfer.ts'

/**
 * Time after which the transaction is no longer presented. It is void 150 blocks after its block hash, about a minute.
 */
const validSeconds = 120
const maxMemoBytes = 256

/**
 * Prepares a USDC transfer that takes effect once the seller's fee payer signs the same transaction and submits it.
 * @see https://github.com/x402-foundation/x402/blob/main/specs/schemes/exact/scheme_exact_svm.md
 */
export async function prepareSolanaPayment(
  intent: IntentOf<'x402.authorize'>,
  tools: IntentTools,
): Promise<ParsedIntent> {
  const network = findSolanaNetwork(intent.network)
  if (!network) throw createInvalidIntentError(`network ${JSON.stringify(intent.network)} is not a Solana network.`)
  const { pay_to: payee, fee_payer: feePayer, description, memo } = intent
  if (intent.facilitator !== undefined)
    throw createInvalidIntentError('facilitator is for payments on EVM networks only.')
  if (feePayer === undefined) throw createInvalidIntentError('fee_payer is required for payments on Solana.')
  const account = tools.keys.account('solana', intent.account_id)
  await checkAddress('pay_to', payee, tools)
  await checkAddress('fee_payer', feePayer, tools)
  const mint = network.usdc.address
  const [source, destination] = await Promise.all([
    deriveTokenAccount(account.address, mint),
    deriveTokenAccount(payee, mint),
  ])
  if ([source, destination].includes(feePayer))
    throw createInvalidIntentError(`fee_payer ${feePayer} takes part in the transfer.`)
  const site = toSite('resource', intent.resource)
  if (description !== undefined) assertPlainText('description', description, '\n\t')
  checkMemo(memo)
  const value = BigInt(intent.amount)
  const amount = `${formatTokenAmount(value, usdcDecimals)} USDC`
  const transfer = { feePayer, payer: account.address, source, destination, mint, amount: value }

  return {
    prepared: {
      intent: { ...intent, account_id: account.id, network: network.id, valid_seconds: validSeconds },
      account,
      sentence: `Pay ${amount} to ${shortenAddress(payee)} on ${network.name} for ${shorten(intent.resource, 80)}`,
      fields: listPaymentFields({
        ...{ intent, account, network, site, valid: 'About 1 minute after signing' },
        amount: { label: 'Amount', value: amount },
        more: [
          ...(memo === undefined ? [] : [{ label: 'Public memo', value: memo, kind: 'text' as const }]),
          { label: 'Fee paid by', value: feePayer, kind: 'address' },
          ...(await findPayeeWarning(payee)),
        ],
      }),
      raw: JSON.stringify(
        {
          transaction: {
            ...{ version: 0, feePayer, signers: [feePayer, account.address] },
            recentBlockhash: 'chosen when it is signed',
          },
          instructions: [
            { program: 'Compute Budget', sets: 'limit and price of its computation' },
            {
              ...{ program: 'Token', instruction: 'TransferChecked', source, mint, destination },
              ...{ authority: account.address, amount: intent.amount, decimals: usdcDecimals },
            },
            { program: 'Memo', text: memo ?? '16 random bytes, chosen when it is signed' },
          ],
        },
        null,
        2,
      ),
      host: site.host,
      amountMicroUsd: value,
    },
    async sign() {
      if (!tools.solanaBlockHash)
        throw createInvalidIntentError(`Steward cannot pay on ${network.name}: no RPC endpoint is configured.`)
      const blockHash = await tools.solanaBlockHash(network)
      if (!(await parseSolanaKey(blockHash)))
        throw createInvalidIntentError(`The RPC endpoint of ${network.name} returned no block hash.`)
      const text = memo ?? Buffer.from(tools.randomBytes(16)).toString('hex')
      const message = await buildTransferMessage({ ...transfer, memo: text, blockHash })
      const signature = await signSolana(tools.keys, account, message)
      const { base58 } = await import('@scure/base')
      return {
        ...{ kind: intent.kind, address: account.address, signature },
        authorization: {
          ...{ from: account.address, to: payee, value: intent.amount, validAfter: '0' },
          validBefore: String(Math.floor(tools.now() / 1000) + validSeconds),
          nonce: `${blockHash}:${signature}`,
        },
        transaction: serializeTransaction(message, base58.decode(signature)),
      }
    },
  }
}

async function checkAddress(name: string, address: string, { keys }: IntentTools): Promise<void> {
  if (!(await parseSolanaKey(address))) throw createInvalidIntentError(`${name} ${address} is not a Solana address.`)
  if (Object.values<string>(solanaPrograms).includes(address)) {
    throw createInvalidIntentError(`${name} ${address} is a Solana program: the money would be lost.`)
  }
  const token = solanaNetworks.find(({ usdc }) => usdc.address === address)
  if (token)
    throw createInvalidIntentError(`${name} ${address} is the USDC mint on ${token.name}: the money would be lost.`)
  const ownAccount = keys
    .accounts()
    .find((signingAccount) => signingAccount.chainType === 'solana' && signingAccount.address === address)
  if (ownAccount)
    throw createInvalidIntentError(
      `${name} ${address} is “${ownAccount.label}” of this wallet: you would pay yourself.`,
    )
}

function checkMemo(memo: string | undefined): void {
  if (memo === undefined) return
  assertPlainText('memo', memo, '')
  const bytes = Buffer.byteLength(memo)
  if (bytes > maxMemoBytes)
    throw createInvalidIntentError(`memo has ${bytes} bytes, but the maximum is ${maxMemoBytes}.`)
}

/**
 * Warns of an address off the curve, which belongs to a program: a shared wallet, or a token account mistaken for its
 * owner.
 */
async function findPayeeWarning(payee: string): Promise<IntentField[]> {
  const key = await parseSolanaKey(payee)
  if (key && (await isOnCurve(key))) return []
  return [{ label: 'Payee', value: 'This address has no private key. Is it a shared wallet?', kind: 'warning' }]
}
