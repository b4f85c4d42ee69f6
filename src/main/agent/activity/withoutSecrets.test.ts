import { base58 } from '@scure/base'
import { generateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english'
import { expect, test } from 'vitest'
import { embedInText, ordinaryTexts, secretKinds } from '#test/support/secretKinds.ts'
import { redactSecrets, redactText } from './withoutSecrets.ts'

const actor = { kind: 'client', name: 'a script' } as const
const hex = '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318'
const solanaKey = '5'.repeat(87)
/** Small leading bytes make the encoded key shorter than average. */
const shortSolanaKey = base58.encode(Uint8Array.of(0, 1, ...Buffer.alloc(62, 255)))
const apiKey = `sk_steward_${'aB3_-'.repeat(9).slice(0, 43)}`
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'

test.each([
  ['an API key', apiKey],
  ['a private key', `0x${hex}`],
  ['a private key without 0x', hex],
  ['a key of Solana', solanaKey],
  ['a short key of Solana', shortSolanaKey],
  ['a token', jwt],
  ['an authorization', 'Bearer c29tZXRoaW5n'],
])('takes out %s', (_, secret) => {
  expect(redactText(`before ${secret} after`)).toBe('before [removed] after')
  expect(redactText(`(${secret})`)).toBe('([removed])')
})

test.each([128, 160, 192, 224, 256])('takes out a recovery phrase of %i bits, however it is written', (bits) => {
  const phrase = generateMnemonic(wordlist, bits)
  const listed = phrase
    .split(' ')
    .map((word, index) => `${index + 1}. ${word.toUpperCase()}`)
    .join('\n')
  for (const written of [phrase, phrase.replaceAll(' ', ', '), listed]) {
    const clean = redactText(`Kept: ${written}. Zzz!`)
    expect(clean).toMatch(/^Kept: (1\. )?\[removed\]\. Zzz!$/)
  }
})

test('takes out every one of several', () => {
  const [first, second] = [generateMnemonic(wordlist), generateMnemonic(wordlist)]
  expect(redactText(`${first} (x) ${second} ${apiKey}`)).toBe('[removed] (x) [removed] [removed]')
})

test('leaves what is none', () => {
  const texts = [
    'Please allow this payment because the agent needs more credits today for tests and other work.',
    'A command ended with exit code 0 after 12 ms.',
    'Sandbox 0123456789abcdef0123456789abcdef was deleted.',
    'Pay 5.00 USDC to 0x2222222222222222222222222222222222222222 for https://example.com/a?b=c',
    'Signed: 0x951f17c71f2ba925cca3e6080cd7c4f122e5297faa3a8d12eb685410edc753f810531e55d954ecc4742f3f606f458b8a200cef1957811bf809c7d29279e4bbf41b',
  ]
  for (const text of texts) expect(redactText(text)).toBe(text)
})

test('hashes and nonces stay where they are expected, other keys do not', () => {
  const detail = {
    payload_hash: `0x${hex}`,
    nonce: hex,
    signature: solanaKey,
    note: `0x${hex}`,
    hash: apiKey,
    count: 3,
  }
  expect(redactSecrets({ actor, summary: hex, subject: `0x${hex}`, detail })).toEqual({
    actor,
    summary: '[removed]',
    subject: '[removed]',
    detail: { ...detail, note: '[removed]', hash: '[removed]' },
  })
})

test('a field that is named after a secret says nothing', () => {
  const detail = { passphrase: 'correct horse', api_key: 'x', old_password: 'y', key_prefix: 'sk_steward_aB3' }
  expect(redactSecrets({ actor, summary: 'Changed.', detail }).detail).toEqual({
    passphrase: '[removed]',
    api_key: '[removed]',
    old_password: '[removed]',
    key_prefix: 'sk_steward_aB3',
  })
})

test('takes out secrets of every kind, wherever they stand, whatever else there is', () => {
  for (let round = 0; round < 20; round += 1) {
    for (const sample of secretKinds()) {
      const readable = [
        sample.text,
        embedInText(sample),
        `before ${sample.text}, and after`,
        JSON.stringify({ given: sample.text }),
      ]
        .map((text) => redactText(text))
        .filter((text) => text.includes(sample.secret) || text.includes(sample.secret.slice(-12)))
      expect(readable, sample.kind).toEqual([])
    }
  }
})

test('leaves a digest in base64 that has a key of base58 as its end', () => {
  const text = `integrity sha512-/${'2pvC'.repeat(21)}A==`
  expect(redactText(text)).toBe(text)
})

test('leaves what is written every day, and what stands around a secret', () => {
  for (let round = 0; round < 50; round += 1) {
    for (const text of ordinaryTexts()) expect(redactText(text)).toBe(text)
  }
  const around = {
    [`curl -H 'Authorization: Bearer ${jwt}' https://a.example`]:
      "curl -H 'Authorization: [removed]' https://a.example",
    'https://ada:hunter2hunter@a.example/x': 'https://[removed]@a.example/x',
    'https://a.example/x?key=abcdef&page=2': 'https://a.example/x?key=[removed]&page=2',
    'TOKEN=abc1234 npm test': 'TOKEN=[removed] npm test',
    'deploy --token abc1234 --region eu': 'deploy --token [removed] --region eu',
  }
  for (const [text, clean] of Object.entries(around)) expect(redactText(text)).toBe(clean)
})

test('takes out what somebody else cut in the middle', () => {
  expect(redactText(`Ran “echo ${hex.slice(0, 40)}…” in atlas.`)).toBe('Ran “echo [removed]…” in atlas.')
  expect(redactText('Ran “echo XCVFFpQoE_qZBRFn7EBMoQCb4kpnuaNtswiPzl…” in atlas.')).toBe(
    'Ran “echo [removed]” in atlas.',
  )
  expect(redactText('Paid 0x1234…abcd.')).toBe('Paid 0x1234…abcd.')
})

test('takes them out of the names of those who act', () => {
  const { actor: named } = redactSecrets({ actor: { kind: 'client', name: `bot ${apiKey}` }, summary: 'x' })
  expect(named).toEqual({ kind: 'client', name: 'bot [removed]' })
})

test('no text makes it slow', () => {
  const hostile = [
    ...[
      'a',
      '-',
      '--',
      'a-',
      'a_',
      '0',
      '1,',
      'ab:',
      'ab ',
      '"',
      '\\',
      '\\"',
      "'",
      'token',
      'token=',
      'token="',
      '--token ',
      '://',
      'a://',
      '@',
      'a:',
      '…',
    ],
    ...[
      'Bearer ',
      'authorization: ',
      'cookie: a',
      '-----BEGIN PRIVATE KEY-----',
      'eyJ',
      'sk-',
      'sk-a',
      ' -u a',
      'AIza',
      'tx ',
      'aB3',
      'aB3/',
      '5K',
    ],
  ].map((piece) => piece.repeat(200_000).slice(0, 200_000))
  // Anything but a few steps for each character would last minutes.
  for (const text of hostile) redactText(text)
})

test('every phrase of a text is removed, and the words between them stay', () => {
  const phrase = 'abandon '.repeat(12)
  expect(redactText(`${phrase}zzzz ${phrase}. Zzz ${'zoo '.repeat(24)}and more`)).toBe(
    '[removed] zzzz [removed] . Zzz [removed] and more',
  )
})

test('an overlong text is cut before scrubbing and never shows part of a secret', () => {
  const phrases = `${'abandon '.repeat(12)}zzzzzzzzzzzz `.repeat(40_000)
  expect(redactText(phrases)).toMatch(/^(\[removed\] zzzzzzzzzzzz )*[^a]{0,30}…$/)
  const split = `${'x'.repeat(7_990)} sk_steward_${'a'.repeat(43)}`
  expect(redactText(split)).toBe(`${'x'.repeat(4_000)}…`)
  const pulled = `${`${'abandon '.repeat(12)}zzzzzzzzzzzz `.repeat(73)}sk_steward_${'a'.repeat(4_000)}`
  expect(redactText(pulled)).not.toContain('sk_steward')
})
