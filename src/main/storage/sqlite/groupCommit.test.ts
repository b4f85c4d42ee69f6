import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createGroupCommit, type GroupCommit } from './groupCommit.ts'
import { type Database, openDatabase } from './openDatabase.ts'

let database: Database
let commits: GroupCommit
let flushes: { done(): void; fail(error: Error): void }[]
let broken: unknown[]

beforeEach(() => {
  database = openDatabase(join(temporaryFolder('commits'), 'data.sqlite'))
  database.exec('CREATE TABLE notes (text TEXT NOT NULL CHECK (length(text) < 5)) STRICT')
  const begun: typeof flushes = []
  flushes = begun // a timer of the previous test may still start a flush
  broken = []
  commits = createGroupCommit({
    database,
    flush: () => new Promise((resolve, reject) => begun.push({ done: resolve, fail: reject })),
    onBroken: (error) => broken.push(error),
  })
})
afterEach(() => database.close())

const add = (text: string) => () => database.prepare('INSERT INTO notes VALUES (?)').run(text).changes
const notes = () =>
  database
    .prepare<[], { text: string }>('SELECT text FROM notes')
    .all()
    .map(({ text }) => text)
const refuse = (): never => {
  throw new AppError('request/invalid', 'No.')
}

test('runs queued work in order and isolates a rejected item', async () => {
  const works = [add('a'), refuse, add('b')].map((work) => commits.commit(work))
  expect(notes()).toEqual([])
  expect(await Promise.allSettled(works)).toMatchObject([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: { code: 'request/invalid' } },
    { status: 'fulfilled', value: 1 },
  ])
  expect(notes()).toEqual(['a', 'b'])
})

test('an unexpected error in one item does not affect the others', async () => {
  const works = [add('a'), add('too long'), add('b')].map((work) => commits.commit(work))
  expect(await Promise.allSettled(works)).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'data/unwritable', status: 503 } },
    { status: 'fulfilled' },
  ])
  expect(notes()).toEqual(['a', 'b'])
})

test('a durable commit waits for a flush that starts after it', async () => {
  const results: string[] = []
  const first = commits.commitDurable(add('a')).then(() => results.push('a'))
  await expect.poll(() => flushes.length).toBe(1)
  const second = commits.commitDurable(add('b')).then(() => results.push('b'))
  const third = commits.commitDurable(add('c')).then(() => results.push('c'))
  await commits.commit(add('d'))
  expect([notes(), results, flushes.length]).toEqual([['a', 'b', 'c', 'd'], [], 1])
  flushes[0]?.done()
  await first
  expect(results).toEqual(['a'])
  await expect.poll(() => flushes.length).toBe(2)
  flushes[1]?.done()
  await Promise.all([second, third])
  expect(flushes).toHaveLength(2)
})

test('flushes commits without waiting callers', async () => {
  await commits.commit(add('a'))
  await commits.commit(add('b'))
  await expect.poll(() => flushes.length).toBe(1)
})

test('rejects all work after a failed flush', async () => {
  const work = commits.commitDurable(add('a'))
  await expect.poll(() => flushes.length).toBe(1)
  const meanwhile = commits.commitDurable(add('b'))
  await commits.commit(add('c'))
  flushes[0]?.fail(new Error('EIO'))
  const refusal = { code: 'data/unwritable', cause: { message: 'EIO' } }
  await expect(work).rejects.toMatchObject(refusal)
  await expect(meanwhile).rejects.toMatchObject(refusal)
  await expect(commits.commit(add('d'))).rejects.toMatchObject(refusal)
  expect([commits.hasEnded, broken.length]).toEqual([true, 1])
})

test('commits and flushes queued work on close', async () => {
  const work = commits.commitDurable(add('a'))
  const closed = commits.close()
  expect(notes()).toEqual(['a'])
  flushes[0]?.done()
  expect(await work).toBe(1)
  await closed
  await expect(commits.commit(add('b'))).rejects.toMatchObject({ code: 'data/unwritable' })
})
