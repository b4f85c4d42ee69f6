import { expect, test } from 'vitest'
import { createEmitter } from './emitter.ts'

test('notifies every listener in subscription order', () => {
  const heard: string[] = []
  const { emit, subscribe } = createEmitter<string>()
  subscribe((event) => heard.push(`first ${event}`))
  subscribe((event) => heard.push(`second ${event}`))
  emit('a')
  emit('b')
  expect(heard).toEqual(['first a', 'second a', 'first b', 'second b'])
})

test('does not notify unsubscribed listeners, even during an emit', () => {
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

test('notifies a listener that subscribes during an emit from the next event on', () => {
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

test('removes one registration of a listener that subscribed twice', () => {
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

test('notifies the other listeners when one throws', () => {
  const heard: string[] = []
  const { emit, subscribe } = createEmitter()
  subscribe(() => {
    throw new Error('broken')
  })
  subscribe(() => heard.push('second'))
  expect(() => emit()).toThrow('broken')
  expect(heard).toEqual(['second'])
})

test('notifies no listener after clear', () => {
  let count = 0
  const { emit, subscribe, clear } = createEmitter()
  subscribe(() => {
    count += 1
  })
  clear()
  emit()
  expect(count).toBe(0)
})
