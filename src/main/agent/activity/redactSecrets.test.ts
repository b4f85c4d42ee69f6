import { base58 } from '@scure/base'
import { generateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english'
import { expect, test } from 'vitest'
import { embedInText, ordinaryTexts, secretKinds } from '#test/support/fixtures/secretKinds.ts'
import { redactSecrets, redactText } from './redactSecrets.ts'

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
])('redacts %s', (_, secret) => {
  expect(redactText(`before ${secret} after`)).toBe('before [removed] after')
  expect(redactText(`(${secret})`)).toBe('([removed])')
})

test.each([128, 160, 192, 224, 256])('redacts a recovery phrase of %i bits in any notation', (bits) => {
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

test('redacts every secret in a text with several', () => {
  const [first, second] = [generateMnemonic(wordlist), generateMnemonic(wordlist)]
  expect(redactText(`${first} (x) ${second} ${apiKey}`)).toBe('[removed] (x) [removed] [removed]')
})

test('does not redact ordinary text', () => {
  const texts = [
    'Please allow this payment because the agent needs more credits today for tests and other work.',
    'A command ended with exit code 0 after 12 ms.',
    'Sandbox 0123456789abcdef0123456789abcdef was deleted.',
    'Pay 5.00 USDC to 0x2222222222222222222222222222222222222222 for https://example.com/a?b=c',
    'Signed: 0x951f17c71f2ba925cca3e6080cd7c4f122e5297faa3a8d12eb685410edc753f810531e55d954ecc4742f3f606f458b8a200cef1957811bf809c7d29279e4bbf41b',
  ]
  for (const text of texts) expect(redactText(text)).toBe(text)
})

test('preserves hashes and nonces in expected fields but redacts other keys', () => {
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

test('redacts fields named after a secret', () => {
  const detail = { passphrase: 'correct horse', api_key: 'x', old_password: 'y', key_prefix: 'sk_steward_aB3' }
  expect(redactSecrets({ actor, summary: 'Changed.', detail }).detail).toEqual({
    passphrase: '[removed]',
    api_key: '[removed]',
    old_password: '[removed]',
    key_prefix: 'sk_steward_aB3',
  })
})

test('redacts secrets of every kind in any surrounding text', () => {
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

test('does not redact a base64 digest that ends in a base58 key', () => {
  const text = `integrity sha512-/${'2pvC'.repeat(21)}A==`
  expect(redactText(text)).toBe(text)
})

test('preserves ordinary text and the text around a secret', () => {
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

test('redacts a secret truncated in the middle', () => {
  expect(redactText(`Ran “echo ${hex.slice(0, 40)}…” in atlas.`)).toBe('Ran “echo [removed]…” in atlas.')
  expect(redactText('Ran “echo XCVFFpQoE_qZBRFn7EBMoQCb4kpnuaNtswiPzl…” in atlas.')).toBe(
    'Ran “echo [removed]” in atlas.',
  )
  expect(redactText('Paid 0x1234…abcd.')).toBe('Paid 0x1234…abcd.')
})

test('redacts secrets in actor names', () => {
  const { actor: named } = redactSecrets({ actor: { kind: 'client', name: `bot ${apiKey}` }, summary: 'x' })
  expect(named).toEqual({ kind: 'client', name: 'bot [removed]' })
})

test('redacts hostile input in linear time', () => {
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
  // An algorithm that needs more than a few steps per character would run for minutes.
  for (const text of hostile) redactText(text)
})

test('redacts every phrase in a text and preserves the words between them', () => {
  const phrase = 'abandon '.repeat(12)
  expect(redactText(`${phrase}zzzz ${phrase}. Zzz ${'zoo '.repeat(24)}and more`)).toBe(
    '[removed] zzzz [removed] . Zzz [removed] and more',
  )
})

test('truncates an overlong text before redaction without revealing part of a secret', () => {
  const phrases = `${'abandon '.repeat(12)}zzzzzzzzzzzz `.repeat(40_000)
  expect(redactText(phrases)).toMatch(/^(\[removed\] zzzzzzzzzzzz )*[^a]{0,30}…$/)
  const split = `${'x'.repeat(7_990)} sk_steward_${'a'.repeat(43)}`
  expect(redactText(split)).toBe(`${'x'.repeat(4_000)}…`)
  const pulled = `${`${'abandon '.repeat(12)}zzzzzzzzzzzz `.repeat(73)}sk_steward_${'a'.repeat(4_000)}`
  expect(redactText(pulled)).not.toContain('sk_steward')
})
