import { expect, test } from 'vitest'
import { openDatabase } from './sqlite/openDatabase.ts'
import {
  amount,
  anyText,
  bytes,
  defineTable,
  flag,
  json,
  lenientJson,
  nullable,
  number,
  type RowOf,
  renameColumn,
  text,
} from './table.ts'

const thingTable = defineTable('things', {
  id: text<'one' | 'two'>(),
  count: number(),
  isReady: flag(),
  words: json<string[]>(),
  paidAtomic: amount(),
  hash: bytes(),
  readAtMs: nullable(number()),
  limitAtomic: nullable(amount()),
})
type Thing = RowOf<typeof thingTable>

const thing: Thing = {
  id: 'one',
  count: 3,
  isReady: true,
  words: ['a "quoted" word', 'ö'],
  paidAtomic: 123_456_789_012_345_678n,
  hash: Buffer.from([0, 255]),
  readAtMs: null,
  limitAtomic: null,
}

function openThings() {
  const database = openDatabase(':memory:')
  database.exec(
    `CREATE TABLE things (id TEXT PRIMARY KEY, count INTEGER, is_ready INTEGER, words TEXT, paid_atomic INTEGER,
       hash BLOB, read_at_ms INTEGER, limit_atomic INTEGER, note TEXT) STRICT`,
  )
  const find = database.prepare(`SELECT ${thingTable.selection('t')} FROM things t WHERE t.id = @id`)
  return { database, find: (id: Thing['id']) => thingTable.fromRow(find.get(thingTable.params({ id })) as never) }
}

test('reads every kind of column as it was written', () => {
  const { database, find } = openThings()
  database.prepare(thingTable.insert).run(thingTable.params(thing))
  expect(find('one')).toEqual(thing)
  const otherRow = { ...thing, id: 'two' as const, isReady: false, readAtMs: 5, limitAtomic: 2n ** 62n }
  database.prepare(thingTable.insert).run(thingTable.params(otherRow))
  expect(find('two')).toEqual(otherRow)
})

test('stores a text with U+0000 without that character, and any other text unchanged', () => {
  const { encode, decode } = anyText()
  for (const value of ['', 'plain', '\u0001', '"a"']) expect([encode(value), decode(value)]).toEqual([value, value])
  for (const value of ['\0', 'a\0"ö\u0001', '\u0001json:', '\u0001json:"x"']) {
    expect(encode(value)).not.toContain('\0')
    expect(decode(encode(value))).toBe(value)
  }
  expect(decode('a\0b')).toBe('a\0b')
})

test('an upsert replaces the columns other than the key', () => {
  const { database, find } = openThings()
  const save = database.prepare(thingTable.upsert(['id'], "note = 'changed'"))
  save.run(thingTable.params(thing))
  expect(database.prepare('SELECT note FROM things').get()).toEqual({ note: null })
  save.run(thingTable.params({ ...thing, count: 4, words: [] }))
  expect(find('one')).toEqual({ ...thing, count: 4, words: [] })
  expect(database.prepare('SELECT note FROM things').get()).toEqual({ note: 'changed' })
})

test('lists every column in the generated SQL', () => {
  expect(thingTable.insert).toBe(
    'INSERT INTO things (id, count, is_ready, words, paid_atomic, hash, read_at_ms, limit_atomic) VALUES (@id, @count, @isReady, @words, @paidAtomic, @hash, @readAtMs, @limitAtomic)',
  )
  expect(thingTable.selection()).toContain('CAST(paid_atomic AS TEXT) AS "paidAtomic", hash AS "hash"')
})

test('reads and writes a column under another name', () => {
  const { database } = openThings()
  const notes = defineTable('things', { id: text(), remark: renameColumn('note', nullable(text())) })
  database.prepare(notes.upsert(['id'])).run(notes.params({ id: 'one', remark: 'first' }))
  database
    .prepare(`UPDATE things SET ${notes.assignments(['remark'])} WHERE id = @id`)
    .run({ id: 'one', remark: 'then' })
  const row = database.prepare(`SELECT ${notes.selection()} FROM things`).get()
  expect(notes.fromRow(row as never)).toEqual({ id: 'one', remark: 'then' })
})

test('assigns each field to its parameter', () => {
  expect(thingTable.assignments(['isReady', 'readAtMs'])).toBe('is_ready = @isReady, read_at_ms = @readAtMs')
})

test('returns undefined for a row that cannot be decoded', () => {
  const lists = defineTable('things', { id: text(), words: json<string[]>() })
  expect(lists.tryFromRow({ id: 'one', words: '["a"]' })).toEqual({ id: 'one', words: ['a'] })
  expect(lists.tryFromRow({ id: 'one', words: '["a' })).toBeUndefined()
  expect(lists.tryFromRow(undefined)).toBeUndefined()
})

test('validates text and numbers on read', () => {
  const parseEven = (value: number) => {
    if (value % 2 === 1) throw new RangeError(`${value} is odd.`)
    return value
  }
  const parseState = (value: unknown) => {
    if (value !== 'known') throw new TypeError(`${String(value)} is not known.`)
    return value
  }
  const checked = defineTable('things', { id: text(parseState), count: nullable(number(parseEven)) })
  expect(checked.fromRow({ id: 'known', count: 2 })).toEqual({ id: 'known', count: 2 })
  expect(checked.fromRow({ id: 'known', count: null })).toEqual({ id: 'known', count: null })
  expect(() => checked.fromRow({ id: 'known', count: 3 })).toThrow(RangeError)
  expect(() => checked.fromRow({ id: 'other', count: 2 })).toThrow(TypeError)
})

test('reads a fallback for damaged JSON', () => {
  const parseList = (value: unknown): string[] => {
    if (!Array.isArray(value)) throw new TypeError('Not a list.')
    return value
  }
  const lists = defineTable('things', { words: nullable(lenientJson(parseList, ['none'])) })
  const read = (words: string | null) => lists.fromRow({ words }).words
  expect(['["a"]', '["a', '{}', null].map(read)).toEqual([['a'], ['none'], ['none'], null])
})

test('inserts the result of a query with expressions for parameters', () => {
  const { database, find } = openThings()
  database.prepare(thingTable.insert).run(thingTable.params(thing))
  const copy = database.prepare(
    thingTable.insertFrom('FROM things WHERE id = @original', { id: `'two'`, count: 'count + 1' }),
  )
  const fields = { ...thing, words: ['copied'] }
  expect(copy.run({ ...thingTable.params(fields), original: 'none' }).changes).toBe(0)
  expect(copy.run({ ...thingTable.params(fields), original: 'one' }).changes).toBe(1)
  expect(find('two')).toEqual({ ...fields, id: 'two', count: 4 })
})
