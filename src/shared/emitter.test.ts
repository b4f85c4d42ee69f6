import { expect, test } from 'vitest'
import { createEmitter } from './emitter.ts'

test('tells every listener, in the order in which they came', () => {
  const heard: string[] = []
  const { emit, subscribe } = createEmitter<string>()
  subscribe((event) => heard.push(`first ${event}`))
  subscribe((event) => heard.push(`second ${event}`))
  emit('a')
  emit('b')
  expect(heard).toEqual(['first a', 'second a', 'first b', 'second b'])
})

test('tells nobody who has left, also when they left a moment ago', () => {
  const heard: string[] = []
  const { emit, subscribe } = createEmitter()
  subscribe(() => {
    heard.push('first')
    unsubscribe()
  })
  const unsubscribe = subscribe(() => heard.push('second'))
  emit()
  emit()
  expect(heard).toEqual(['first', 'first'])
})

test('tells those who come while it tells the others from the next event on', () => {
  const heard: string[] = []
  const { emit, subscribe } = createEmitter<string>()
  const unsubscribe = subscribe((event) => {
    unsubscribe()
    subscribe((later) => heard.push(`${event} ${later}`))
  })
  emit('a')
  emit('b')
  expect(heard).toEqual(['a b'])
})

test('one function that listens twice leaves once for each time', () => {
  let count = 0
  const { emit, subscribe } = createEmitter()
  const listener = () => {
    count += 1
  }
  const unsubscribe = subscribe(listener)
  subscribe(listener)
  emit()
  unsubscribe()
  unsubscribe()
  emit()
  expect(count).toBe(3)
})

test('a listener that throws keeps nobody from hearing', () => {
  const heard: string[] = []
  const { emit, subscribe } = createEmitter()
  subscribe(() => {
    throw new Error('broken')
  })
  subscribe(() => heard.push('second'))
  expect(() => emit()).toThrow('broken')
  expect(heard).toEqual(['second'])
})

test('tells nobody after it was cleared', () => {
  let count = 0
  const { emit, subscribe, clear } = createEmitter()
  subscribe(() => {
    count += 1
  })
  clear()
  emit()
  expect(count).toBe(0)
})
