import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '#test/support/assertions/eventually.ts'
import { patchAndRefetch, readAgain } from './readAgain.ts'

type Answer = { resolve(names: string[]): void; signal: AbortSignal }

const queryKey = ['things']
let asked: Answer[]
let client: QueryClient
let stopWatching: () => void

/** A list whose reads are resolved manually, in any order that the test chooses. */
beforeEach(() => {
  asked = []
  client = new QueryClient({ defaultOptions: { queries: { networkMode: 'always', retry: false, gcTime: Infinity } } })
  const observer = new QueryObserver<string[]>(client, {
    queryKey,
    queryFn: ({ signal }) => new Promise((resolve) => asked.push({ resolve, signal })),
  })
  stopWatching = observer.subscribe(() => {})
})

afterEach(() => {
  stopWatching()
  client.clear()
})

const readCache = () => client.getQueryData(queryKey)
const answer = (read: number, names: string[]) => asked[read]!.resolve(names)
const add = (name: string) => (names: string[]) => [...names, name]

test('discards a response requested before a change even if it arrives last', async () => {
  const done = patchAndRefetch<string[]>(client, queryKey, add('made'))
  await eventually(() => expect(asked).toHaveLength(2))
  answer(1, ['made'])
  await done
  answer(0, [])
  expect(readCache()).toEqual(['made'])
  expect(asked[0]!.signal.aborted).toBe(true)
})

test('shows an event immediately and preserves it during the refetch', async () => {
  answer(0, ['first'])
  await eventually(() => expect(readCache()).toEqual(['first']))
  const rereading = readAgain(client, queryKey)
  await eventually(() => expect(asked).toHaveLength(2))

  const done = patchAndRefetch<string[]>(client, queryKey, add('second'))
  expect(readCache()).toEqual(['first', 'second'])
  answer(1, ['first'])
  await eventually(() => expect(asked).toHaveLength(3))
  expect(readCache()).toEqual(['first', 'second'])

  answer(2, ['first', 'second', 'third'])
  await Promise.all([done, rereading])
  expect(readCache()).toEqual(['first', 'second', 'third'])
})

test('preserves every change that arrives during a refetch', async () => {
  answer(0, [])
  await eventually(() => expect(readCache()).toEqual([]))
  const changes = ['a', 'b', 'c'].map((name) => patchAndRefetch<string[]>(client, queryKey, add(name)))
  expect(readCache()).toEqual(['a', 'b', 'c'])
  await eventually(() => expect(asked.filter(({ signal }) => !signal.aborted)).toHaveLength(2))
  expect(readCache()).toEqual(['a', 'b', 'c'])
  answer(asked.length - 1, ['a', 'b', 'c'])
  await Promise.all(changes)
  expect(readCache()).toEqual(['a', 'b', 'c'])
})

test('refetches at `ready` even during the first fetch', async () => {
  const done = readAgain(client, queryKey)
  await eventually(() => expect(asked).toHaveLength(2))
  answer(0, ['old'])
  answer(1, ['new'])
  await done
  expect(readCache()).toEqual(['new'])
})

test('invalidates a list without observers and does not refetch it', async () => {
  answer(0, ['first'])
  await eventually(() => expect(readCache()).toEqual(['first']))
  stopWatching()
  await patchAndRefetch<string[]>(client, queryKey, add('second'))
  expect(readCache()).toEqual(['first', 'second'])
  expect(asked).toHaveLength(1)
  expect(client.getQueryState(queryKey)?.isInvalidated).toBe(true)
})
