import type { Tone } from '#renderer/ui/StatusDot.tsx'
import type { IntentRecord, IntentState } from '#shared/contract/intents.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'

type StateText = { tone: Tone; words: string }

const states: Record<IntentState, StateText> = openRecord(
  {
    waiting: { tone: 'accent', words: 'Needs you' },
    approved: { tone: 'accent', words: 'Being signed' },
    signed: { tone: 'positive', words: 'Signed' },
    denied: { tone: 'neutral', words: 'Denied' },
    expired: { tone: 'neutral', words: 'Expired' },
    failed: { tone: 'negative', words: 'Failed' },
  },
  (word) => ({ tone: 'neutral', words: toPlainWord(word) }),
)

export function describeState({ kind, state, decision }: Pick<IntentRecord, 'kind' | 'state' | 'decision'>): StateText {
  // Already allowed by a rule or grant while the wallet was locked.
  if (state === 'waiting' && decision) return { tone: 'caution', words: 'Waiting for unlock' }
  // Tool calls are approved rather than signed.
  if (kind === 'tool.call' && state === 'signed') return { tone: 'positive', words: 'Approved' }
  return states[state]
}
