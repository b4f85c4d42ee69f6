import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { LocalEvent } from '#shared/contract/localApi.ts'
import { markStale, staleKeys } from './staleKeys.ts'

const rendererFolder = join(import.meta.dirname, '..')
const types = LocalEvent.options.map(({ shape }) => shape.type.value)
/** Events that patch the cache app-wide or do not affect cached data. */
const patchedAppWide = ['terminal.changed', 'terminal.removed', 'account-requests.changed', 'intent.show']
const changesCache = /\b(readAgain|patchAndReadAgain|patchFromEvent|setQueryData|invalidateQueries)\b/

/** Returns the event types on which source files change the cache. */
function handledTypes(): Map<string, string> {
  const files = readdirSync(rendererFolder, { recursive: true, encoding: 'utf8' })
  const heard = new Map<string, string>()
  for (const file of files.filter((name) => /\.tsx?$/.test(name) && !/\.test\.|staleKeys/.test(name))) {
    const text = readFileSync(join(rendererFolder, file), 'utf8')
    if (!text.includes('LiveEvent') || !changesCache.test(text)) continue
    for (const type of types) if (text.includes(`'${type}'`)) heard.set(type, file)
  }
  return heard
}

test('handles every event that patches a cache of a section app-wide', () => {
  const heard = handledTypes()
  expect(heard.size).toBeGreaterThan(15)
  const missing = [...heard].filter(
    ([type]) => !patchedAppWide.includes(type) && staleKeys[type as LocalEvent['type']].length === 0,
  )
  expect(missing).toEqual([])
})

test('refetches stale data only when its section opens', async () => {
  const queryClient = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  let reads = 0
  const query = { queryKey: ['credits', 'balance'], queryFn: () => ++reads }
  await queryClient.fetchQuery(query)
  markStale(queryClient, { type: 'models.changed' })
  expect(await queryClient.fetchQuery(query)).toBe(1)
  markStale(queryClient, { type: 'credits.changed' })
  expect(reads).toBe(1)
  expect(await queryClient.fetchQuery(query)).toBe(2)
  const { promise, resolve } = Promise.withResolvers<string>()
  const slow = queryClient.fetchQuery({ queryKey: ['credits', 'slow'], queryFn: () => promise })
  markStale(queryClient, { type: 'credits.changed' })
  resolve('from before')
  expect(await slow).toBe('from before')
  expect(queryClient.getQueryState(['credits', 'slow'])?.isInvalidated).toBe(true)
})
