import { expect, test } from 'vitest'
import { measurePassphraseStrength } from './passphraseStrength.ts'

test.each([
  'password2024!',
  'Password2024!',
  'aaaaaaaaaaaaaaaaaaaa',
  '12345678901234567890',
  'summer summer summer summer',
  'Tr0ub4dor',
  'qwertyuiop',
])('%s is not rated strong', (passphrase) => {
  expect(measurePassphraseStrength(passphrase)).toMatchObject({
    isStrong: false,
    sentence: expect.stringMatching(/^It would take about \d+ (minute|hour|day|month|year)s? to guess\.$/),
  })
})

test.each(['violet anchor seldom pretzel orbit', 'correct horse battery staple lamp', 'x7Kq2-pLm9Z!v4Rt8'])(
  '%s is rated strong',
  (passphrase) => {
    expect(measurePassphraseStrength(passphrase).isStrong).toBe(true)
  },
)

test('each additional word increases the time to guess', () => {
  const first = measurePassphraseStrength('violet anchor').sentence
  const two = measurePassphraseStrength('violet anchor seldom').sentence
  expect(first).not.toBe(two)
})
