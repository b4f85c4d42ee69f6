import { expect, test } from 'vitest'
import { createAbortListeners } from './abortListeners.ts'

function world() {
  const controller = new AbortController()
  const ran: string[] = []
  const ending = createAbortListeners(controller.signal)
  return { end: () => controller.abort(), ran, wait: (name: string) => ending.onceEnded(() => void ran.push(name)) }
}

test('runs every pending task once on abort and skips removed ones', () => {
  const { end, ran, wait } = world()
  const forget = ['a', 'b', 'c', 'd', 'e'].map(wait)
  for (const index of [0, 2, 4, 2]) forget[index]?.()
  end()
  forget[1]?.()
  expect(ran.sort()).toEqual(['b', 'd'])
})

test('runs a task immediately after the abort', () => {
  const { end, ran, wait } = world()
  end()
  wait('late')()
  expect(ran).toEqual(['late'])
})

test('continues when a task removes another one', () => {
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
