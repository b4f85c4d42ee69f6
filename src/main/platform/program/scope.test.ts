import { expect, test } from 'vitest'
import { Scope } from './scope.ts'

test('closes newest first, and only once', async () => {
  const closed: string[] = []
  const scope = new Scope()
  scope.own('first', (name) => closed.push(name))
  scope.own('second', async (name) => closed.push(name))
  await Promise.all([scope.close(), scope.close()])
  expect(closed).toEqual(['second', 'first'])
})

test('closes the rest when one fails and reports every error', async () => {
  const closed: string[] = []
  const scope = new Scope()
  scope.own('kept going', (name) => closed.push(name))
  scope.own('stuck', () => {
    throw new Error('stuck')
  })
  scope.own('late', () => Promise.reject(new Error('late')))
  const error = await scope.close().catch((it: unknown) => it)
  expect(error).toMatchObject({ errors: [{ message: 'late' }, { message: 'stuck' }] })
  expect(closed).toEqual(['kept going'])
})
