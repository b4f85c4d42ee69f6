import { expect, test } from 'vitest'
import { createAbortListeners } from './abortListeners.ts'

function world() {
  const controller = new AbortController()
  const ran: string[] = []
  const ending = createAbortListeners(controller.signal)
  return { end: () => controller.abort(), ran, wait: (name: string) => ending.onceEnded(() => void ran.push(name)) }
}

test('runs every task once at the end, and none that was forgotten, wherever it stood', () => {
  const { end, ran, wait } = world()
  const forget = ['a', 'b', 'c', 'd', 'e'].map(wait)
  for (const index of [0, 2, 4, 2]) forget[index]?.()
  end()
  forget[1]?.()
  expect(ran.sort()).toEqual(['b', 'd'])
})

test('runs a task at once behind the end', () => {
  const { end, ran, wait } = world()
  end()
  wait('late')()
  expect(ran).toEqual(['late'])
})

test('goes on when a task forgets another one', () => {
  const controller = new AbortController()
  const ran: string[] = []
  const ending = createAbortListeners(controller.signal)
  const forget = ending.onceEnded(() => void ran.push('first'))
  ending.onceEnded(() => {
    ran.push('last')
    forget()
  })
  controller.abort()
  expect(ran).toEqual(['last'])
})
