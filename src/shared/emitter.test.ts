import { expect, test } from 'vitest'
import { emitter } from './emitter.ts'

test('tells every listener, in the order in which they came', () => {
  const heard: string[] = []
  const { emit, subscribe } = emitter<string>()
  subscribe((event) => heard.push(`first ${event}`))
  subscribe((event) => heard.push(`second ${event}`))
  emit('a')
  emit('b')
  expect(heard).toEqual(['first a', 'second a', 'first b', 'second b'])
})

test('tells nobody who has left, also when they left a moment ago', () => {
  const heard: string[] = []
  const { emit, subscribe } = emitter()
  subscribe(() => {
    heard.push('first')
    leave()
  })
  const leave = subscribe(() => heard.push('second'))
  emit()
  emit()
  expect(heard).toEqual(['first', 'first'])
})

test('tells those who come while it tells the others from the next event on', () => {
  const heard: string[] = []
  const { emit, subscribe } = emitter<string>()
  const leave = subscribe((event) => {
    leave()
    subscribe((later) => heard.push(`${event} ${later}`))
  })
  emit('a')
  emit('b')
  expect(heard).toEqual(['a b'])
})

test('one function that listens twice leaves once for each time', () => {
  let count = 0
  const { emit, subscribe } = emitter()
  const listener = () => {
    count += 1
  }
  const leave = subscribe(listener)
  subscribe(listener)
  emit()
  leave()
  leave()
  emit()
  expect(count).toBe(3)
})

test('a listener that throws keeps nobody from hearing', () => {
  const heard: string[] = []
  const { emit, subscribe } = emitter()
  subscribe(() => {
    throw new Error('broken')
  })
  subscribe(() => heard.push('second'))
  expect(() => emit()).toThrow('broken')
  expect(heard).toEqual(['second'])
})

test('tells nobody after it was cleared', () => {
  let count = 0
  const { emit, subscribe, clear } = emitter()
  subscribe(() => {
    count += 1
  })
  clear()
  emit()
  expect(count).toBe(0)
})
