import { expect, test } from 'vitest'
import { deferStatements } from './deferStatements.ts'
import { openDatabase } from './openDatabase.ts'

test('compiles a statement at its first use', () => {
  const database = deferStatements(openDatabase(':memory:'))
  const add = database.prepare<[number]>('INSERT INTO notes VALUES (?)')
  const list = database.prepare<[], { id: number }>('SELECT id FROM notes ORDER BY id')
  expect(() => add.run(1)).toThrow('no such table: notes')
  database.exec('CREATE TABLE notes (id INTEGER) STRICT')
  expect(add.run(1).changes).toBe(1)
  database.transaction(() => add.run(2))()
  expect(list.get()).toEqual({ id: 1 })
  expect(list.all()).toEqual([{ id: 1 }, { id: 2 }])
  expect([...list.iterate()]).toEqual([{ id: 1 }, { id: 2 }])
  expect(database.prepare('SELECT count(*) FROM notes').pluck().get()).toBe(2)
  database.close()
})

test('reports a closed database on the first use of a statement', () => {
  const database = deferStatements(openDatabase(':memory:'))
  const read = database.prepare('SELECT 1')
  database.close()
  expect(() => read.get()).toThrow('not open')
})
