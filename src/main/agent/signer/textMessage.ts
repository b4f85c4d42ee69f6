import { parseJson } from '#platform/parsing/boundedJson.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { hashPersonalMessage } from './evmSignature.ts'
import {
  createInvalidIntentError,
  type IntentField,
  type IntentOf,
  type IntentTools,
  type ParsedIntent,
} from './parsedIntent.ts'
import { assertPlainText, listInvisibleWarnings, shorten } from './plainText.ts'
import { isSolanaMessage } from './solanaMessage.ts'
import { signSolana } from './solanaSignature.ts'

/** Signs text: EIP-191 for EVM, the plain bytes for Solana. Rejects text that could be interpreted as other content. */
export async function prepareTextMessage(intent: IntentOf<'message'>, tools: IntentTools): Promise<ParsedIntent> {
  const { text, chain_type } = intent
  assertPlainText('text', text, '\n\t')
  checkMeaning(text)
  const account = tools.keys.account(chain_type, intent.account_id)
  const { address, label } = account

  return {
    prepared: {
      intent: { ...intent, account_id: account.id },
      account,
      sentence: `Sign the text “${shorten(text, 60)}” with ${shortenAddress(address)}.`,
      fields: [
        { label: 'Text', value: text, kind: 'text' },
        { label: 'Account', value: label, kind: 'text' },
        { label: 'Address', value: address, kind: 'address' },
        ...listInvisibleWarnings('The text', text),
        ...hashWarning(text),
      ],
      raw: text,
      host: null,
      amountMicroUsd: null,
    },
    async sign() {
      const signature =
        chain_type === 'evm'
          ? await tools.signEvm(account, await hashPersonalMessage(text))
          : await signSolana(tools.keys, account, text)
      return { kind: intent.kind, address, signature, message: text }
    },
  }
}

function checkMeaning(text: string): void {
  if (/wants\s+you\s+to\s+sign\s+in\s+with\s+your\b/i.test(text)) {
    throw createInvalidIntentError('text is a sign-in message. Use the intent `siwe` or `siws`, which shows the site.')
  }
  if (/^\s*(0x)?1901/i.test(text)) throw createInvalidIntentError('text begins with 0x1901, like encoded typed data.')
  const keys = listJsonKeys(text)
  if (keys.includes('primaryType') || keys.includes('types'))
    throw createInvalidIntentError('text is typed data, not plain text.')
  if (keys.includes('payloadHash') || keys.includes('automatonId')) {
    throw createInvalidIntentError(
      'text registers an automaton. Use the intent `identity.register`, which shows the profile.',
    )
  }
  if (isSolanaMessage(new TextEncoder().encode(text))) {
    throw createInvalidIntentError('text has the form of a Solana transaction: the signature would be valid for it.')
  }
}

function listJsonKeys(text: string): string[] {
  try {
    const value: unknown = parseJson(text)
    return typeof value === 'object' && value !== null ? Object.keys(value) : []
  } catch {
    return [] // not JSON
  }
}

function hashWarning(text: string): IntentField[] {
  if (!/^\s*(0x)?[0-9a-f]{64}\s*$/i.test(text)) return []
  return [{ label: 'A hash', value: 'A hash does not show what you agree to.', kind: 'warning' }]
}
