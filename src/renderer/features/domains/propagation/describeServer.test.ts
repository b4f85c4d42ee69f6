import { expect, test } from 'vitest'
import type { PropagatedRecords } from '#shared/contract/localDomains.ts'
import { describeServer, formatTtl } from './describeServer.ts'

const set = (state: PropagatedRecords['state'], detail: string | null = null): PropagatedRecords => ({
  ...{ type: 'A', host: '@', state, wanted: [], found: [], ttl: null, detail },
})

test('shows a server as up to date, outdated or unresponsive', () => {
  expect(describeServer([set('same'), set('same')])).toEqual({ tone: 'positive', text: 'All 2 up to date' })
  expect(describeServer([set('same'), set('other'), set('missing')]).text).toBe(
    '1 of 3 up to date · 1 different, 1 missing',
  )
  expect(describeServer([set('failed', 'The server did not respond.')])).toEqual({
    tone: 'neutral',
    text: 'The server did not respond.',
  })
  expect(describeServer([]).text).toBe('Nothing to compare')
})

test('formats a TTL in the largest fitting unit', () => {
  expect([30, 61, 3_600, 86_400].map(formatTtl)).toEqual(['30 s', '2 min', '1 h', '24 h'])
})
