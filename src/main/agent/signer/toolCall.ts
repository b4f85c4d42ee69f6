import { createHash } from 'node:crypto'
import { parseJson } from '#platform/boundedJson.ts'
import { noAccount } from '#shared/contract/intents.ts'
import { checkPlain } from './plainText.ts'
import type { IntentOf, Understood } from './understood.ts'

/** A tool wants to run. No key takes part: what "signs" it is the digest of what the person saw. */
export async function prepareToolCall(intent: IntentOf<'tool.call'>): Promise<Understood> {
  const { tool, sentence, target, arguments: toolArguments } = intent
  checkPlain('sentence', sentence)
  checkPlain('target', target)
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
