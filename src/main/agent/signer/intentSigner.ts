import { createHash } from 'node:crypto'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { describeIssue } from '#shared/contract/describeIssue.ts'
import { Intent, noAccount } from '#shared/contract/intents.ts'
import { findSolanaNetwork } from '#shared/contract/networks.ts'
import { createEvmSignatures } from './evmSignature.ts'
import { prepareIdentityRegistration } from './identityRegistration.ts'
import {
  createInvalidIntentError,
  type IntentOf,
  type IntentTools,
  type ParsedIntent,
  type SignerTools,
} from './parsedIntent.ts'
import { preparePaymentAuthorization } from './paymentAuthorization.ts'
import { assertPlainText } from './plainText.ts'
import { prepareSignIn } from './prepareSignIn.ts'
import type { PreparedIntent, Signer } from './signer.ts'
import { prepareSolanaPayment } from './solanaPayment.ts'
import { prepareTextMessage } from './textMessage.ts'
import { prepareUptoPayment } from './uptoPayment.ts'

/** Signs intents. Rebuilds the bytes from the intent and rejects them if they differ from the approved ones. */
export function createIntentSigner(options: SignerTools): Signer {
  const tools: IntentTools = { ...options, signEvm: createEvmSignatures(options.keys) }
  const plan = (input: unknown): Promise<ParsedIntent> => {
    const intent = parseIntent(input)
    switch (intent.kind) {
      case 'identity.register':
        return prepareIdentityRegistration(intent, tools)
      case 'siwe':
      case 'siws':
        return prepareSignIn(intent, tools)
      case 'x402.authorize':
        return toPayment(intent)(intent, tools)
      case 'message':
        return prepareTextMessage(intent, tools)
      case 'tool.call':
        return prepareToolCall(intent)
    }
  }

  return {
    prepare: async (intent) => (await plan(intent)).prepared,
    async sign(approved) {
      const { prepared, sign } = await plan(approved.intent)
      if (!isSame(prepared, approved))
        throw createInvalidIntentError('The data to sign no longer matches what was shown. Submit the request again.')
      return sign()
    },
  }
}

function toPayment({ network, facilitator }: IntentOf<'x402.authorize'>) {
  if (findSolanaNetwork(network)) return prepareSolanaPayment
  return facilitator === undefined ? preparePaymentAuthorization : prepareUptoPayment
}

function parseIntent(input: unknown): Intent {
  const { data, error } = Intent.safeParse(input)
  if (data) return data
  const [issue] = error.issues
  throw createInvalidIntentError(issue ? describeIssue(issue, input) : 'This is not an intent.', error)
}

function isSame(a: PreparedIntent, b: PreparedIntent): boolean {
  return (
    a.raw === b.raw &&
    a.sentence === b.sentence &&
    a.account.id === b.account.id &&
    a.account.address === b.account.address
  )
}

/** Prepares a tool call. No key is used: the "signature" is the digest of the content shown to the user. */
async function prepareToolCall(intent: IntentOf<'tool.call'>): Promise<ParsedIntent> {
  const { tool, sentence, target, arguments: toolArguments } = intent
  assertPlainText('sentence', sentence)
  assertPlainText('target', target)
  const raw = JSON.stringify({ tool, arguments: parseJson(toolArguments) as unknown })
  return {
    prepared: {
      intent,
      account: { id: noAccount, chainType: 'evm', address: '', label: '' },
      sentence,
      fields: [
        { label: 'Tool', value: tool, kind: 'text' },
        { label: 'About', value: target, kind: 'text' },
      ],
      raw,
      host: null,
      amountMicroUsd: null,
    },
    async sign() {
      return { kind: intent.kind, address: '', signature: createHash('sha256').update(raw).digest('hex') }
    },
  }
}
