import { expect, test } from 'vitest'
import { findSaleRefusal } from './saleMoney.ts'

const registrars = { local: false, sandbox: false, real: true } as const
const money = { test: false, real: true, none: undefined } as const

test.each<[keyof typeof registrars, keyof typeof money, RegExp | undefined]>([
  ['local', 'test', undefined],
  ['local', 'real', /^Test names of Registry are not sold for real money\.$/],
  ['local', 'none', undefined],
  ['sandbox', 'test', undefined],
  ['sandbox', 'real', /not sold for real money/],
  ['sandbox', 'none', undefined],
  ['real', 'test', /^Names of Registry are not sold for test money\.$/],
  ['real', 'real', undefined],
  ['real', 'none', undefined],
])('checks sales of %s registrar names for %s money', (registrar, paid, words) => {
  const refusal = findSaleRefusal({ namesAreReal: registrars[registrar], moneyIsReal: money[paid] }, 'Registry')
  if (words === undefined) return expect(refusal).toBeUndefined()
  expect(refusal).toMatchObject({ code: 'payments/unconfigured', status: 503, message: expect.stringMatching(words) })
})
