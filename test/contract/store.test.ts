import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { openPostgresStore } from '#storage/postgres/postgresStore.ts'
import { createGroupCommit } from '#storage/sqlite/groupCommit.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { ConstraintError, defineStatement, isDuplicate, type Store, StoreUnavailableError } from '#storage/store.ts'
import {
  amount,
  bytes,
  defineTable,
  flag,
  json,
  nullable,
  number,
  type Params,
  type RowOf,
  text,
} from '#storage/table.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { describeStores, type OpenedStore } from '../support/fixtures/storeEngines.ts'
import { postgresMissing, startPostgres, type TestPostgres } from '../support/processes/postgres.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

const notes = defineTable('notes', {
  id: text(),
  count: number(),
  tokens: amount(),
  isDone: flag(),
  payload: bytes(),
  labels: json<string[]>(),
  parent: nullable(text()),
})
type Item = RowOf<typeof notes>

const schema = {
  sqlite: `CREATE TABLE notes (id TEXT PRIMARY KEY, count INTEGER NOT NULL CHECK (count >= 0), tokens INTEGER NOT NULL,
    is_done INTEGER NOT NULL, payload BLOB NOT NULL, labels TEXT NOT NULL, parent TEXT REFERENCES notes (id)
    DEFERRABLE INITIALLY IMMEDIATE, UNIQUE (count, parent)) STRICT`,
  postgres: `CREATE TABLE notes (id text PRIMARY KEY, count bigint NOT NULL CHECK (count >= 0), tokens bigint NOT NULL,
    is_done bigint NOT NULL, payload bytea NOT NULL, labels text NOT NULL, parent text REFERENCES notes (id),
    UNIQUE (count, parent))`,
}
const create = defineStatement(schema)
const add = defineStatement<Params<keyof Item>>(notes.insert)
const list = defineStatement(`SELECT ${notes.selection()} FROM notes ORDER BY id`).withRows(notes.fromRow)
const find = defineStatement<Params<'id'>>(`SELECT ${notes.selection()} FROM notes WHERE id = @id`).withRows(
  notes.fromRow,
)
const setCount = defineStatement<Params<'id' | 'count'>>('UPDATE notes SET count = @count WHERE id = @id')
const remove = defineStatement<Params<'id'>>('DELETE FROM notes WHERE id = @id')
const clearLabels = defineStatement("UPDATE notes SET labels = NULL WHERE id = 'a'")
const addOnce = defineStatement<Params<keyof Item>>(`${notes.insert} ON CONFLICT (id) DO NOTHING`)
const take = defineStatement<Params<'id'>>(`DELETE FROM notes WHERE id = @id RETURNING ${notes.selection()}`).withRows(
  notes.fromRow,
)
const sumUp = defineStatement(
  "SELECT sum(count) AS total, EXISTS (SELECT 1 FROM notes WHERE id = 'a') AS found FROM notes",
).withRows((row) => row)
const sumCounts = defineStatement('SELECT sum(count) AS total FROM notes').withRows(({ total }) => Number(total))

const note = (id: string, changes: Partial<Item> = {}): Item => ({
  ...{ id, count: 0, tokens: 0n, isDone: false, payload: Buffer.alloc(0), labels: [], parent: null },
  ...changes,
})
const addItem = (store: Store, ...all: Parameters<typeof note>): Promise<number> =>
  store.write((tx) => tx.run(add, notes.params(note(...all))))
const increment = (store: Store, id: string): Promise<void> =>
  store.write(async (tx) => {
    const { count } = (await tx.first(find, { id })) ?? note(id)
    await tx.run(setCount, { id, count: count + 1 })
  })

describeStores('a store', (engine) => {
  let opened: OpenedStore
  let store: Store

  beforeEach(async () => {
    opened = await engine.open()
    store = opened.store
    await store.write((tx) => tx.run(create))
  })

  describe('values', () => {
    test('are read as they were written', async () => {
      const rows = [
        note('a', {
          count: Number.MAX_SAFE_INTEGER,
          tokens: 2n ** 63n - 1n,
          isDone: true,
          payload: Buffer.from([0, 255]),
        }),
        note('b', { tokens: -(2n ** 53n) - 1n, labels: ['\u0000', 'ü', "it's @name $1"], parent: 'a' }),
      ]
      for (const row of rows) expect(await store.write((tx) => tx.run(add, notes.params(row)))).toBe(1)
      expect(await store.read.all(list)).toEqual(rows)
    })

    test('of expressions are the same on both engines', async () => {
      await addItem(store, 'a', { count: 3 })
      await addItem(store, 'b', { count: 4 })
      expect(await store.read.first(sumUp)).toEqual({ total: 7, found: 1 })
    })

    test('without a row are undefined', async () => {
      expect(await store.read.first(find, { id: 'none' })).toBeUndefined()
      expect(await store.read.all(list)).toEqual([])
    })

    test('that a decoder rejects reject the read', async () => {
      await addItem(store, 'a')
      const strict = defineStatement('SELECT id FROM notes').withRows(() => {
        throw new Error('not a note')
      })
      await expect(store.read.all(strict)).rejects.toThrow('not a note')
    })

    test('must be passed for every parameter', async () => {
      const missing = { id: 'a' } as unknown as Params<'id' | 'count'>
      await expect(store.write((tx) => tx.run(setCount, missing))).rejects.toThrow(/[Mm]issing/)
    })
  })

  describe('a transaction', () => {
    test('returns the result of its work after the commit', async () => {
      const result = await store.write(async (tx) => {
        const added = await tx.run(add, notes.params(note('a')))
        const [row] = await tx.all(list)
        return { added, id: row?.id, updated: await tx.run(setCount, { id: 'none', count: 1 }) }
      })
      expect(result).toEqual({ added: 1, id: 'a', updated: 0 })
      expect(await store.read.first(find, { id: 'a' })).toMatchObject({ id: 'a' })
    })

    test('returns rows that a change affects', async () => {
      await addItem(store, 'a', { count: 5 })
      expect(await store.write((tx) => tx.first(take, { id: 'a' }))).toMatchObject({ count: 5 })
      expect(await store.write((tx) => tx.first(take, { id: 'a' }))).toBeUndefined()
    })

    test.each([
      ['an unexpected error', new Error('no')],
      ['an AppError', new AppError('request/invalid', 'No.')],
    ])('is rolled back by %s', async (_, error) => {
      const work = store.write(async (tx) => {
        await tx.run(add, notes.params(note('a')))
        throw error
      })
      await expect(work).rejects.toBe(error)
      expect(await store.read.all(list)).toEqual([])
    })

    test('is rolled back if its work throws before it returns a promise', async () => {
      const work = store.write((tx) => {
        for (const id of ['a', 'a', 'b']) void tx.run(add, notes.params(note(id)))
        throw new Error('at once')
      })
      await expect(work).rejects.toThrow('at once')
      expect(await store.read.all(list)).toEqual([])
    })

    test('waits for statements that its work did not await', async () => {
      await store.write(async (tx) => {
        void tx.run(add, notes.params(note('a')))
        void tx.run(add, notes.params(note('b')))
      })
      expect(await store.read.all(list)).toHaveLength(2)
    })

    test('is not half visible to a reader', async () => {
      await addItem(store, 'a')
      let isWriting = true
      const seen = new Set<string>()
      const reader = (async () => {
        while (isWriting) {
          seen.add((await store.read.all(list)).map(({ id, count }) => `${id}${count}`).join())
          await wait(0)
        }
      })()
      for (let round = 1; round <= 50; round += 1) {
        await store.write(async (tx) => {
          await tx.run(setCount, { id: 'a', count: round })
          await tx.run(add, notes.params(note('b', { count: round })))
        })
        await store.write(async (tx) => {
          await tx.run(remove, { id: 'b' })
        })
      }
      isWriting = false
      await reader
      const whole = [...seen].filter((it) => /^a(\d+),b\1$|^a\d+$/.test(it))
      expect(whole).toEqual([...seen])
    })

    test('reads its own changes, and other transactions do not', async () => {
      const counts: number[] = []
      await store.write(async (tx) => {
        await tx.run(add, notes.params(note('a')))
        counts.push((await tx.all(list)).length)
      })
      await store
        .write(async (tx) => {
          await tx.run(remove, { id: 'a' })
          counts.push((await tx.all(list)).length)
          throw new Error('undone')
        })
        .catch(() => {})
      counts.push((await store.read.all(list)).length)
      expect(counts).toEqual([1, 0, 1])
    })

    test('loses no update to concurrent writers', async () => {
      await addItem(store, 'a')
      const other = opened.name === 'postgres' ? await opened.openAgain() : store
      const writer = async (target: Store): Promise<void> => {
        for (let index = 0; index < 100; index += 1) await increment(target, 'a')
      }
      await Promise.all([writer(store), writer(other)])
      expect(await store.read.first(find, { id: 'a' })).toMatchObject({ count: 200 })
    })

    test('cannot insert what another one checked for', async () => {
      // Each adds only while the sum is below 3: a write skew under any isolation below serializable
      const addBelow = (id: string) =>
        store.write(async (tx) => {
          if (((await tx.first(sumCounts)) ?? 0) < 3) await tx.run(add, notes.params(note(id, { count: 1 })))
        })
      await Promise.all(Array.from({ length: 12 }, (_, index) => addBelow(`n${index}`)))
      expect(await store.read.first(sumCounts)).toBe(3)
    })

    test('cannot be used after its end', async () => {
      const ended = await store.write(async (tx) => [tx])
      await expect(ended[0]?.run(remove, { id: 'a' })).rejects.toThrow('has ended')
    })
  })

  describe('a violation', () => {
    const violate = (work: Promise<unknown>): Promise<ConstraintError> =>
      work.then(
        () => expect.unreachable('the change was accepted'),
        (error: unknown) => {
          expect(error).toBeInstanceOf(ConstraintError)
          return error as ConstraintError
        },
      )

    test('of a primary key is reported as unique with its columns', async () => {
      await addItem(store, 'secret-value')
      const error = await violate(addItem(store, 'secret-value'))
      expect(error).toMatchObject({ kind: 'unique', table: 'notes', columns: ['id'] })
      expect(isDuplicate(error, 'notes', ['id'])).toBe(true)
      expect(isDuplicate(error, 'notes', ['count', 'parent'])).toBe(false)
      expect(error.message).not.toContain('secret-value')
    })

    test('of a unique constraint names all its columns', async () => {
      await addItem(store, 'a', { count: 1 })
      await addItem(store, 'b', { count: 1, parent: 'a' })
      const error = await violate(addItem(store, 'c', { count: 1, parent: 'a' }))
      expect(isDuplicate(error, 'notes', ['parent', 'count'])).toBe(true)
    })

    test('of a check, a foreign key and NOT NULL is reported by kind', async () => {
      expect(await violate(addItem(store, 'a', { count: -1 }))).toMatchObject({ kind: 'check' })
      expect(await violate(addItem(store, 'a', { parent: 'none' }))).toMatchObject({ kind: 'foreign-key' })
      await addItem(store, 'a')
      const error = await violate(store.write((tx) => tx.run(clearLabels)))
      expect(error).toMatchObject({ kind: 'not-null', table: 'notes', columns: ['labels'] })
    })

    test('ends the transaction, also if its work catches the error', async () => {
      await addItem(store, 'a')
      const work = store.write(async (tx) => {
        await tx.run(setCount, { id: 'a', count: 9 })
        await tx.run(add, notes.params(note('a'))).catch(() => {})
      })
      expect(await violate(work)).toMatchObject({ kind: 'unique' })
      expect(await store.read.first(find, { id: 'a' })).toMatchObject({ count: 0 })
    })

    test('that the statement handles is none', async () => {
      await addItem(store, 'a')
      expect(await store.write((tx) => tx.run(addOnce, notes.params(note('a'))))).toBe(0)
      expect(await store.write((tx) => tx.run(addOnce, notes.params(note('b'))))).toBe(1)
    })
  })

  describe('a signal', () => {
    test('that has aborted prevents the transaction', async () => {
      let isCalled = false
      const work = store.write(
        async () => {
          isCalled = true
        },
        { signal: AbortSignal.abort(new Error('gone')) },
      )
      await expect(work).rejects.toThrow('gone')
      expect(isCalled).toBe(false)
    })

    test('that aborts rolls the transaction back', async () => {
      const controller = new AbortController()
      const work = store.write(
        async (tx) => {
          await tx.run(add, notes.params(note('a')))
          controller.abort(new Error('gone'))
          await tx.run(add, notes.params(note('b')))
        },
        { signal: controller.signal },
      )
      await expect(work).rejects.toThrow('gone')
      expect(await store.read.all(list)).toEqual([])
      await addItem(store, 'a')
    })
  })

  test('rejects all calls after it was closed', async () => {
    const last = addItem(store, 'a')
    const closed = store.close()
    await expect(addItem(store, 'b')).rejects.toBeInstanceOf(StoreUnavailableError)
    await closed
    await expect(store.read.all(list)).rejects.toMatchObject({ code: 'data/unavailable', status: 503 })
    expect(await last).toBe(1)
    await store.close()
  })

  test('commits a durable transaction', async () => {
    await store.write((tx) => tx.run(add, notes.params(note('a'))), { isDurable: true })
    expect(await store.read.all(list)).toHaveLength(1)
  })

  const onSharedConnection = () => {
    const getDatabase = () => {
      if (opened.name !== 'sqlite') throw new Error('runs on SQLite only')
      return opened.database
    }

    test('takes no foreign statement into a transaction', async () => {
      const database = getDatabase()
      const insert = database.prepare("INSERT INTO notes VALUES (?, 0, 0, 0, x'', '[]', NULL)")
      const insertThrice = async (name: string): Promise<void> => {
        for (let index = 0; index < 3; index += 1) {
          await Promise.resolve() // as a request handler that awaits something
          expect(database.inTransaction).toBe(false)
          insert.run(`${name}${index}`)
        }
      }
      const rolledBack = Array.from({ length: 20 }, (_, index) =>
        store
          .write(async (tx) => {
            await tx.run(add, notes.params(note(`t${index}`)))
            await tx.all(list)
            throw new Error('undone')
          })
          .catch(() => insertThrice(`after${index}-`)),
      )
      const foreign = Array.from({ length: 20 }, (_, index) => insertThrice(`f${index}-`))
      await Promise.all([...rolledBack, ...foreign])
      const ids = (await store.read.all(list)).map(({ id }) => id)
      expect(ids).toHaveLength(120)
      expect(ids.filter((it) => it.startsWith('t'))).toEqual([])
    })

    test('shares it with the group commit', async () => {
      const database = getDatabase()
      await addItem(store, 'a')
      const commits = createGroupCommit({ database, flush: async () => {}, onBroken: () => {} })
      const raise = database.prepare("UPDATE notes SET count = count + 1 WHERE id = 'a'")
      const works = Array.from({ length: 100 }, (_, index) =>
        index % 2 === 0 ? increment(store, 'a') : commits.commitDurable(() => raise.run()),
      )
      await Promise.all(works)
      await commits.close()
      expect(await store.read.first(find, { id: 'a' })).toMatchObject({ count: 100 })
    })

    test('flushes a durable transaction before it resolves, and no other', async () => {
      const database = getDatabase()
      const steps: string[] = []
      const flush = async () => {
        await wait(5)
        steps.push(`flushed ${database.prepare('SELECT id FROM notes').all().length}`)
      }
      const flushing = createSqliteStore(database, { flush })
      await flushing.write((tx) => tx.run(add, notes.params(note('a'))))
      const durable = flushing.write((tx) => tx.run(add, notes.params(note('b'))), { isDurable: true })
      const closed = durable.then(() => steps.push('resolved'))
      await wait(1)
      await flushing.close()
      await closed
      expect(steps).toEqual(['flushed 2', 'resolved'])
    })

    test('reports an unknown outcome if the flush fails, and refuses durable work without one', async () => {
      const database = getDatabase()
      const failing = createSqliteStore(database, { flush: () => Promise.reject(new Error('EIO')) })
      const work = failing.write((tx) => tx.run(add, notes.params(note('a'))), { isDurable: true })
      await expect(work).rejects.toMatchObject({ code: 'data/unavailable', isOutcomeUnknown: true })
      const unable = createSqliteStore(database)
      await expect(unable.write(async () => {}, { isDurable: true })).rejects.toThrow('cannot flush')
      expect(await store.read.all(list)).toHaveLength(1)
    })

    test('includes synchronous statements of its work in the transaction', async () => {
      const database = getDatabase()
      const work = store.write(async (tx) => {
        await tx.run(add, notes.params(note('a')))
        database.transaction(() => database.exec("INSERT INTO notes VALUES ('b', 0, 0, 0, x'', '[]', NULL)"))()
        throw new Error('undone')
      })
      await expect(work).rejects.toThrow('undone')
      expect(await store.read.all(list)).toEqual([])
    })

    test('rejects a transaction that awaits anything but SQL', async () => {
      const work = store.write(async (tx) => {
        await tx.run(add, notes.params(note('a')))
        await wait(1)
      })
      await expect(work).rejects.toThrow('may await nothing but its own statements')
      expect(await store.read.all(list)).toEqual([])
    })

    test('rejects a read beside the transaction in its work', async () => {
      const work = store.write(async () => store.read.all(list))
      await expect(work).rejects.toThrow('Read through the transaction')
    })
  }
  if (engine.name === 'sqlite') describe('on a connection that synchronous code uses', onSharedConnection)

  const onServer = () => {
    const getServer = () => {
      if (opened.name !== 'postgres') throw new Error('runs on PostgreSQL only')
      return opened
    }

    test('repeats a transaction that conflicts with another one', async () => {
      const { openAgain } = getServer()
      let retries = 0
      const retried = await openAgain({ onRetry: () => (retries += 1) })
      await addItem(store, 'a')
      let runs = 0
      await retried.write(async (tx) => {
        runs += 1
        const { count } = (await tx.first(find, { id: 'a' })) ?? note('a')
        if (runs === 1) await increment(store, 'a')
        await tx.run(setCount, { id: 'a', count: count + 1 })
      })
      expect({ runs, retries }).toEqual({ runs: 2, retries: 1 })
      expect(await store.read.first(find, { id: 'a' })).toMatchObject({ count: 2 })
    })

    test('sees the changes of others while it runs if it asks for read committed', async () => {
      await addItem(store, 'a')
      const readTwice = (isolation?: 'read committed') =>
        store.write(async (tx) => {
          const before = await tx.first(find, { id: 'a' })
          if (before?.count === 0) await increment(store, 'a')
          return [before?.count, (await tx.first(find, { id: 'a' }))?.count]
        }, isolation && { isolation })
      expect(await readTwice('read committed')).toEqual([0, 1])
      await store.write((tx) => tx.run(setCount, { id: 'a', count: 0 }))
      expect(await readTwice()).toEqual([0, 0])
    })

    test('repeats the victim of a deadlock', async () => {
      for (const id of ['a', 'b']) await addItem(store, id)
      const both = (first: string, second: string) =>
        store.write(async (tx) => {
          for (const id of [first, second]) {
            const { count } = (await tx.first(find, { id })) ?? note(id)
            await tx.run(setCount, { id, count: count + 1 })
          }
        })
      await Promise.all(Array.from({ length: 4 }, (_, index) => (index % 2 ? both('a', 'b') : both('b', 'a'))))
      expect((await store.read.all(list)).map(({ count }) => count)).toEqual([4, 4])
    })

    test('gives up after a bounded number of attempts', async () => {
      const { openAgain } = getServer()
      const retried = await openAgain({ maxAttempts: 3 })
      await addItem(store, 'a')
      let runs = 0
      const work = retried.write(async (tx) => {
        runs += 1
        await tx.first(find, { id: 'a' })
        await increment(store, 'a')
        await tx.run(setCount, { id: 'a', count: 0 })
      })
      await expect(work).rejects.toMatchObject({ code: 'data/unavailable', isOutcomeUnknown: false })
      expect(runs).toBe(3)
      expect(await store.read.first(find, { id: 'a' })).toMatchObject({ count: 3 })
    })

    test('ends a statement at its time limit', async () => {
      const { openAgain } = getServer()
      const limited = await openAgain({ statementTimeoutMs: 200 })
      const sleep = defineStatement('SELECT 1 AS one FROM pg_sleep(20)').withRows((row) => row)
      await expect(limited.read.all(sleep)).rejects.toMatchObject({ code: 'data/unavailable' })
      await expect(limited.write((tx) => tx.all(sleep))).rejects.toMatchObject({ isOutcomeUnknown: false })
      expect(await limited.read.all(list)).toEqual([])
    })

    test('ends a running statement and its locks when the signal aborts', async () => {
      await addItem(store, 'a')
      const controller = new AbortController()
      const sleep = defineStatement('SELECT 1 AS one FROM pg_sleep(20)').withRows((row) => row)
      const work = store.write(
        async (tx) => {
          await tx.run(setCount, { id: 'a', count: 5 })
          await tx.all(sleep)
        },
        { signal: controller.signal },
      )
      setTimeout(() => controller.abort(new Error('gone')), 100)
      await expect(work).rejects.toThrow('gone')
      const startedMs = performance.now()
      await increment(store, 'a')
      expect(performance.now() - startedMs).toBeLessThan(5_000)
      expect(await store.read.first(find, { id: 'a' })).toMatchObject({ count: 1 })
    })

    test('rejects work while the server is down, and works again once it is back', async () => {
      const { server } = getServer()
      await addItem(store, 'a')
      const sleep = defineStatement('SELECT 1 AS one FROM pg_sleep(20)').withRows((row) => row)
      const works = [
        store.write((tx) => tx.all(sleep)),
        store.read.all(sleep),
        store.write(async (tx) => {
          await tx.run(setCount, { id: 'a', count: 5 })
          await tx.all(sleep)
        }),
      ]
      const results = Promise.allSettled(works)
      await wait(200)
      await server.kill()
      const rejected = { status: 'rejected', reason: { code: 'data/unavailable', isOutcomeUnknown: false } }
      expect(await results).toMatchObject([rejected, rejected, rejected])
      await expect(store.read.all(list)).rejects.toMatchObject({ code: 'data/unavailable' })
      await expect(increment(store, 'a')).rejects.toMatchObject({ code: 'data/unavailable' })
      await server.start()
      expect(await store.read.first(find, { id: 'a' })).toMatchObject({ count: 0 })
      await increment(store, 'a')
      expect(await store.read.first(find, { id: 'a' })).toMatchObject({ count: 1 })
    })

    test('reports an unknown outcome if the server dies during the commit', async () => {
      const { server, url } = getServer()
      await store.write((tx) =>
        tx.run(
          defineStatement({
            sqlite: '',
            postgres: `CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(20); RETURN NULL; END $$`,
          }),
        ),
      )
      const client = new Client({ connectionString: url })
      await client.connect()
      await client.query(`CREATE CONSTRAINT TRIGGER delay_commit AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION delay()`)
      await client.end()
      const work = addItem(store, 'a')
      const settled = expect(work).rejects.toMatchObject({ code: 'data/unavailable', isOutcomeUnknown: true })
      await wait(300)
      await server.kill()
      await settled
      await server.start()
      expect(await store.read.all(list)).toEqual([])
    })

    test('rejects work at its time limit if the server stops responding', async () => {
      const { server, openAgain } = getServer()
      const limited = await openAgain({ statementTimeoutMs: 100, connectTimeoutMs: 500 })
      await limited.read.all(list)
      server.signal('SIGSTOP')
      try {
        await expect(limited.read.all(list)).rejects.toMatchObject({ code: 'data/unavailable' })
      } finally {
        server.signal('SIGCONT')
      }
      expect(await limited.read.all(list)).toEqual([])
    })

    test('closes while statements run', async () => {
      const { openAgain } = getServer()
      const closing = await openAgain({ statementTimeoutMs: 60_000, closeTimeoutMs: 300 })
      const sleep = defineStatement('SELECT 1 AS one FROM pg_sleep(50)').withRows((row) => row)
      const work = expect(closing.write((tx) => tx.all(sleep))).rejects.toBeInstanceOf(StoreUnavailableError)
      await wait(100)
      await closing.close()
      await work
    })
  }
  if (engine.name === 'postgres') describe('on a server', onServer)
})

describe('a connection to PostgreSQL', () => {
  skipWhen(postgresMissing)
  let server: TestPostgres | undefined
  afterEach(() => server?.stop())

  test('is refused while the server is down', async () => {
    const url = 'postgresql://steward@127.0.0.1:1/none'
    await expect(openPostgresStore({ url })).rejects.toBeInstanceOf(StoreUnavailableError)
  })

  test('is refused for a database without UTF-8', async () => {
    server = await startPostgres()
    const url = await server.createDatabase()
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    await client.end()
    const latin = url.replace(/test_\d+/, 'latin')
    await expect(openPostgresStore({ url: latin })).rejects.toMatchObject({ code: 'data/unusable' })
    await eventually(async () => {
      const again = await openPostgresStore({ url })
      await again.close()
    })
  })
})
