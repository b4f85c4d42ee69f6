import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { createIntentSigner } from '#agent/signer/intentSigner.ts'
import type { SignerTools } from '#agent/signer/parsedIntent.ts'
import type { Signer } from '#agent/signer/signer.ts'
import { Intent, type IntentInput } from '#shared/contract/intents.ts'
import { createMemoryKeys, type MemoryKeys } from './memoryKeys.ts'

export type TestedSigner = {
  keys: MemoryKeys
  signer: Signer
  /** Prepares an intent as the local API does. */
  prepare: (intent: IntentInput) => ReturnType<Signer['prepare']>
  /** Prepares and signs an intent. */
  signed: (intent: IntentInput) => ReturnType<Signer['sign']>
  clock: { now: number }
}

export const testTime = Date.parse('2026-03-04T05:06:07.089Z')

export function createTestSigner(
  domainName = 'AIWS Automaton',
  solanaBlockHash?: SignerTools['solanaBlockHash'],
): TestedSigner {
  const keys = createMemoryKeys()
  const clock = { now: testTime }
  const signer = createIntentSigner({
    keys,
    domainName,
    now: () => clock.now,
    randomBytes,
    ...(solanaBlockHash && { solanaBlockHash }),
  })
  const prepare = async (intent: IntentInput) => signer.prepare(Intent.parse(intent))
  return { keys, signer, clock, prepare, signed: async (intent) => signer.sign(await prepare(intent)) }
}

export function refusal(message: RegExp) {
  return expect.objectContaining({ code: 'intent/invalid', message: expect.stringMatching(message) })
}
