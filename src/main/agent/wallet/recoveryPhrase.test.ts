import { Mnemonic } from 'ethers'
import { describe, expect, test } from 'vitest'
import { createPhrase, parsePhrase, toPhrase, toSeed } from './recoveryPhrase.ts'

const repeatWord = (word: string, count: number, last: string) => [...Array(count).fill(word), last].join(' ')

/** https://github.com/trezor/python-mnemonic/blob/master/vectors.json */
const vectors: [entropy: string, phrase: string][] = [
  ['00'.repeat(16), repeatWord('abandon', 11, 'about')],
  ['7f'.repeat(16), 'legal winner thank year wave sausage worth useful legal winner thank yellow'],
  ['80'.repeat(16), 'letter advice cage absurd amount doctor acoustic avoid letter advice cage above'],
  ['ff'.repeat(16), repeatWord('zoo', 11, 'wrong')],
  ['00'.repeat(24), repeatWord('abandon', 17, 'agent')],
  ['ff'.repeat(24), repeatWord('zoo', 17, 'when')],
  ['00'.repeat(32), repeatWord('abandon', 23, 'art')],
  ['ff'.repeat(32), repeatWord('zoo', 23, 'vote')],
  ['9e885d952ad362caeb4efe34a8e91bd2', 'ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic'],
  [
    '77c2b00716cec7213839159e404db50d',
    'jelly better achieve collect unaware mountain thought cargo oxygen act hood bridge',
  ],
]

describe('BIP-39', () => {
  test.each(vectors)('converts between entropy %s and its phrase', async (entropy, phrase) => {
    expect(await toPhrase(Buffer.from(entropy, 'hex'))).toBe(phrase)
    expect(Buffer.from(await parsePhrase(phrase)).toString('hex')).toBe(entropy)
  })

  test.each(vectors)('the seed of %s matches another library', async (entropy, phrase) => {
    const seed = await toSeed(Buffer.from(entropy, 'hex'))
    expect(`0x${seed.toString('hex')}`).toBe(Mnemonic.fromPhrase(phrase).computeSeed())
  })

  test.each([
    [15, '00'.repeat(20)],
    [21, '7f'.repeat(28)],
  ])('accepts phrases of %i words', async (words, entropy) => {
    const phrase = await toPhrase(Buffer.from(entropy, 'hex'))
    expect(phrase.split(' ')).toHaveLength(words)
    expect(Buffer.from(await parsePhrase(phrase)).toString('hex')).toBe(entropy)
  })

  test('generates valid phrases that never repeat', async () => {
    const phrases = await Promise.all([createPhrase(12), createPhrase(12), createPhrase(24), createPhrase(24)])
    expect(phrases.map((it) => it.split(' ').length)).toEqual([12, 12, 24, 24])
    expect(new Set(phrases).size).toBe(4)
    for (const phrase of phrases) expect(Mnemonic.isValidMnemonic(phrase)).toBe(true)
  })

  test('accepts extra whitespace and line breaks, capitals and full-width letters', async () => {
    const [, phrase] = vectors[1] ?? ['', '']
    const typed = `\n  ${phrase.toUpperCase().replaceAll(' ', ' \t\n ')} `
    expect(await parsePhrase(typed)).toEqual(await parsePhrase(phrase))
    const wide = phrase.replace('legal', 'ｌｅｇａｌ')
    expect(await parsePhrase(wide)).toEqual(await parsePhrase(phrase))
  })
})

describe('an invalid phrase', () => {
  const secret = 'plantedsecretword'
  test.each([
    ['', 'A phrase has 12, 15, 18, 21 or 24 words, not 0.'],
    ['one two three', 'A phrase has 12, 15, 18, 21 or 24 words, not 3.'],
    [`${repeatWord('abandon', 4, secret)} ${repeatWord('abandon', 6, 'about')}`, 'Word 5 is not in the word list.'],
    [`${secret} ${repeatWord('abandon', 9, secret)} about`, 'Words 1, 11 are not in the word list.'],
    [
      repeatWord('abandon', 11, 'abandon'),
      'All words are valid, but the phrase is not. Check for a wrong or swapped word.',
    ],
  ])('is rejected without revealing its words: %#', async (phrase, message) => {
    const error: unknown = await parsePhrase(phrase).catch((it: unknown) => it)
    expect(error).toMatchObject({ code: 'wallet/phrase', message })
    expect(error).not.toHaveProperty('cause')
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(secret)
  })
})
