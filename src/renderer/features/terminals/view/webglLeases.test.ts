import { expect, test } from 'vitest'
import { createWebglLeases, type WebglHolder } from './webglLeases.ts'

function holder(works = true): WebglHolder & { drawing: boolean } {
  const self = {
    drawing: false,
    start() {
      self.drawing = works
      return works
    },
    stop() {
      self.drawing = false
    },
    isDrawing: () => self.drawing,
  }
  return self
}

test('the terminal hidden longest releases its WebGL context', () => {
  const leases = createWebglLeases(2)
  const [one, two, three] = [holder(), holder(), holder()]
  leases.take(one)
  leases.take(two)
  leases.take(one)
  leases.take(three)
  expect([one.drawing, two.drawing, three.drawing]).toEqual([true, false, true])
})

test('a released context is available to another terminal', () => {
  const leases = createWebglLeases(1)
  const [one, two] = [holder(), holder()]
  leases.take(one)
  leases.giveBack(one)
  leases.take(two)
  expect([one.drawing, two.drawing]).toEqual([false, true])
})

test('a terminal that cannot use WebGL holds no context', () => {
  const leases = createWebglLeases(1)
  const [broken, whole] = [holder(false), holder()]
  leases.take(whole)
  leases.giveBack(whole)
  leases.take(broken)
  leases.take(whole)
  expect(whole.drawing).toBe(true)
})

test('a context lost by the browser is released and can be acquired again', () => {
  const leases = createWebglLeases(2)
  const [one, two, three] = [holder(), holder(), holder()]
  leases.take(one)
  leases.take(two)
  two.stop() // context lost
  leases.take(three)
  expect([one.drawing, two.drawing, three.drawing]).toEqual([true, false, true])
  leases.giveBack(one)
  leases.take(two)
  expect([two.drawing, three.drawing]).toEqual([true, true])
})
