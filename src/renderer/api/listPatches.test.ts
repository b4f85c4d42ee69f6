import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { until } from '#test/support/assertions/eventually.ts'
import { patchFromEvent } from './eventPatch.ts'
import { removeSandbox, withNewSandbox, withSandbox } from './sandboxes/sandboxList.ts'
import { removeTerminal, withNewTerminal, withTerminal, withTitle } from './terminals/terminalList.ts'

const sandbox = (name: string, created_at: string, status = 'running') =>
  ({ id: name, name, created_at, status }) as never
const terminal = (session_id: string, created_at: string, state = 'running') =>
  ({ session_id, created_at, state, title: null }) as never

test('inserts a new sandbox first and updates a known one in place', () => {
  const list = [sandbox('b', '2026-01-02'), sandbox('a', '2026-01-01')]
  expect(withSandbox(list, sandbox('c', '2026-01-03')).map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  const changed = withSandbox(list, sandbox('a', '2026-01-01', 'stopped'))
  expect(changed.map(({ id, status }) => [id, status])).toEqual([
    ['b', 'running'],
    ['a', 'stopped'],
  ])
  expect(removeSandbox(list, 'b' as never).map(({ id }) => id)).toEqual(['a'])
})

test('inserts a new terminal last and updates a known one in place', () => {
  const list = [terminal('p1', '2026-01-01'), terminal('p2', '2026-01-02')]
  expect(withTerminal(list, terminal('p3', '2026-01-03')).map((it) => it.session_id)).toEqual(['p1', 'p2', 'p3'])
  expect(withTerminal(list, terminal('p1', '2026-01-01', 'exited')).map((it) => it.state)).toEqual([
    'exited',
    'running',
  ])
  expect(removeTerminal(list, 'p1' as never).map((it) => it.session_id)).toEqual(['p2'])
})

test('the response to a creation does not overwrite newer events', () => {
  const ended = [terminal('p1', '2026-01-01', 'exited')]
  expect(withNewTerminal(ended, terminal('p1', '2026-01-01'))).toBe(ended)
  expect(withNewTerminal(ended, terminal('p2', '2026-01-02'))).toHaveLength(2)
  const failed = [sandbox('a', '2026-01-01', 'error')]
  expect(withNewSandbox(failed, sandbox('a', '2026-01-01'))).toBe(failed)
  expect(withNewSandbox(failed, sandbox('b', '2026-01-02'))).toHaveLength(2)
})

test('changes only the titled terminal and ignores an unchanged title', () => {
  const list = [terminal('p1', '2026-01-01'), terminal('p2', '2026-01-02')]
  expect(withTitle(list, 'p2' as never, 'vim').map((it) => it.title)).toEqual([null, 'vim'])
  expect(withTitle(list, 'p2' as never, null)).toBe(list)
})

test('an event patches a list without a refetch', async () => {
  const queryClient = new QueryClient()
  let reads = 0
  await queryClient.fetchQuery({ queryKey: ['list'], queryFn: async () => [`read ${++reads}`] })
  patchFromEvent<string[]>(queryClient, ['list'], (list) => [...list, 'told'])
  expect(queryClient.getQueryData(['list'])).toEqual(['read 1', 'told'])
  expect(reads).toBe(1)
})

test('ignores a response older than an event', async () => {
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const answers: ((list: string[]) => void)[] = []
  const queryFn = () => new Promise<string[]>((answer) => void answers.push(answer))
  queryClient.setQueryData(['list'], ['before'])
  const unsubscribe = new QueryObserver(queryClient, { queryKey: ['list'], queryFn }).subscribe(() => {})
  await until('the first read', () => answers.length === 1)
  patchFromEvent<string[]>(queryClient, ['list'], (list) => [...list, 'told'])
  await until('the second read', () => answers.length === 2)
  answers[0]?.(['old'])
  expect(queryClient.getQueryData(['list'])).toEqual(['before', 'told'])
  answers[1]?.(['new'])
  await until('the new answer', () => queryClient.getQueryData<string[]>(['list'])?.[0] === 'new')
  unsubscribe()
  queryClient.clear()
})
