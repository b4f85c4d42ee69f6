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

test('the terminal longest out of view gives its context up', () => {
  const leases = createWebglLeases(2)
  const [one, two, three] = [holder(), holder(), holder()]
  leases.take(one)
  leases.take(two)
  leases.take(one)
  leases.take(three)
  expect([one.drawing, two.drawing, three.drawing]).toEqual([true, false, true])
})

test('what was given back makes room', () => {
  const leases = createWebglLeases(1)
  const [one, two] = [holder(), holder()]
  leases.take(one)
  leases.giveBack(one)
  leases.take(two)
  expect([one.drawing, two.drawing]).toEqual([false, true])
})

test('a terminal that cannot draw with it takes no room', () => {
  const leases = createWebglLeases(1)
  const [broken, whole] = [holder(false), holder()]
  leases.take(whole)
  leases.giveBack(whole)
  leases.take(broken)
  leases.take(whole)
  expect(whole.drawing).toBe(true)
})

test('a context that the browser took away makes room, and can be had again', () => {
  const leases = createWebglLeases(2)
  const [one, two, three] = [holder(), holder(), holder()]
  leases.take(one)
  leases.take(two)
  two.stop() // lost
  leases.take(three)
  expect([one.drawing, two.drawing, three.drawing]).toEqual([true, false, true])
  leases.giveBack(one)
  leases.take(two)
  expect([two.drawing, three.drawing]).toEqual([true, true])
})
