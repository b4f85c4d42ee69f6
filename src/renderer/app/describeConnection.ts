import type { ServiceConnection } from '#shared/contract/localApi.ts'
import { toPlainWord } from '#shared/openRecord.ts'
import type { Tone } from '../ui/StatusDot.tsx'

type ConnectionText = { tone: Tone; state: string }

export function describeConnection(connection: ServiceConnection | undefined): ConnectionText {
  switch (connection?.state) {
    case undefined:
      return { tone: 'neutral', state: 'connecting' }
    case 'starting':
      return { tone: 'caution', state: 'starting' }
    case 'connected':
      return { tone: 'positive', state: 'connected' }
    case 'signed-out':
      return { tone: 'caution', state: 'sign-in needed' }
    case 'unreachable':
      return { tone: 'negative', state: 'not reachable' }
    default:
      return { tone: 'neutral', state: toPlainWord(connection?.state ?? '').toLowerCase() }
  }
}
