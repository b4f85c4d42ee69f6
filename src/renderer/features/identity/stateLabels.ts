import type { AutomatonRegistration } from '#shared/contract/automatons.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'
import type { Tone } from '../../ui/StatusDot.tsx'

type State = AutomatonRegistration['state']

export const stateLabels: Record<State, { words: string; tone: Tone }> = openRecord(
  {
    waiting: { words: 'Needs you', tone: 'accent' },
    sending: { words: 'Sending', tone: 'caution' },
    registered: { words: 'Registered', tone: 'positive' },
    refused: { words: 'Denied', tone: 'neutral' },
    failed: { words: 'Failed', tone: 'negative' },
  },
  (word) => ({ words: toPlainWord(word), tone: 'neutral' }),
)

export const chainLabels = { evm: 'EVM', solana: 'Solana' } as const
