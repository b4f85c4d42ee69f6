import { ParsedMessage } from '@signinwithethereum/siwe-parser'
import { createSignInMessageText, parseSignInMessageText } from '@solana/wallet-standard-util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findNonces, formatSignInMessage, parseSignInMessage, readChainType } from './signInMessage.ts'

const address = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F'
const solanaAddress = 'AWLtX8aoo3BiWQUhGAHHXMUWdMxBSnxbMvpnCUTKMNVd'
const time = '2027-01-15T08:00:00.000Z'
const fields = { uri: 'https://example.com/in', version: '1', chainId: '8453', nonce: 'abcdef0123', issuedAt: time }
const evm = { chainType: 'evm', domain: 'example.com', address, fields } as const
const whole = formatSignInMessage({
  ...evm,
  statement: 'Sign in, please.',
  fields: { ...fields, expirationTime: time, notBefore: time, requestId: 'request-1' },
  resources: ['https://example.com/one?a=b#c', 'ipfs://two'],
})
const withLine = (label: string, value: string) =>
  whole.replace(new RegExp(`^${label}.*$`, 'm'), () => `${label}${value}`)
const withStatement = (statement: string) => whole.replace('Sign in, please.', () => statement)

/** Whether the library accepts the text under the EIP-4361 grammar. */
function isValid(text: string): boolean {
  try {
    new ParsedMessage(text)
    return true
  } catch {
    return false
  }
}
const isParsed = (text: string) => parseSignInMessage(text, 'evm') !== undefined

describe('an EIP-4361 message', () => {
  test.each([
    ['all that it can hold', whole],
    ['a statement', formatSignInMessage({ ...evm, statement: 'Sign in.' })],
    ['no statement', formatSignInMessage(evm)],
    ['a scheme', formatSignInMessage({ ...evm, scheme: 'https' })],
    ['an empty list of resources', formatSignInMessage({ ...evm, resources: [] })],
    ['an empty request id', withLine('Request ID: ', '')],
    ['all punctuation of the grammar', withStatement(":/?#[]@!$&'()*+,;=-._~ a")],
    ['a blank at the end of its statement', withStatement('Sign in ')],
    ['an address of IPv6', withLine('URI: ', 'http://[::ffff:127.0.0.1]:4000/')],
    ['an address without a host', withLine('- ', 'urn:isbn:0451450523')],
    ['escaped characters', withLine('Request ID: ', "a%2Fb:@!$&'()*+,;=-._~")],
    ['a time in whole seconds', withLine('Issued At: ', '2027-01-15T08:00:00Z')],
    ['a time of another zone', withLine('Issued At: ', '2027-01-15T08:00:00+05:30')],
  ])('is accepted with %s', (_, text) => {
    expect(isValid(text)).toBe(true)
    const message = parseSignInMessage(text, 'evm')
    expect(message && formatSignInMessage(message)).toBe(text)
  })

  test.each([
    ['a resource that is no URI', withLine('- ', 'nothing')],
    ['a resource with a blank', withLine('- ', 'https://example.com/a b')],
    ['an empty resource', withLine('- ', '')],
    ['a resource that is cut short', withLine('- ', 'https://example.com/%2')],
    ['a URI with a blank', withLine('URI: ', 'https://example.com/a b')],
    ['a URI that is none', withLine('URI: ', 'example.com')],
    ['a URI with letters beyond ASCII', withLine('URI: ', 'https://exämple.com/')],
    ['a URI with an address that is none', withLine('URI: ', 'http://[1::2::3]/')],
    ['a request id with a blank', withLine('Request ID: ', 'a b')],
    ['a request id with a slash', withLine('Request ID: ', 'a/b')],
    ['quotes in its statement', withStatement('say "yes"')],
    ['letters beyond ASCII in its statement', withStatement('Grüezi')],
    ['a tab in its statement', withStatement('a\tb')],
    ['a percent sign in its statement', withStatement('100 %')],
    ['a statement of two lines', withStatement('a\nb')],
    ['another version', withLine('Version: ', '2')],
    ['a chain that is no number', withLine('Chain ID: ', 'base')],
    ['a short nonce', withLine('Nonce: ', 'abcdefg')],
    ['a nonce with other characters', withLine('Nonce: ', 'abcd-0123')],
    ['a time without a zone', withLine('Issued At: ', '2027-01-15T08:00:00')],
    ['a day', withLine('Issued At: ', '2027-01-15')],
    ['no time', whole.replace(/Issued At: .*\n/, '')],
    ['no URI', whole.replace(/URI: .*\n/, '')],
    ['a field twice', whole.replace('Version', `URI: ${fields.uri}\nVersion`)],
    ['its fields in another order', whole.replace(/(Version: 1)\n(Chain ID: 8453)/, '$2\n$1')],
    ['something behind it', `${whole}\nand more`],
    ['an empty line behind it', `${whole}\n`],
    ['lines that end otherwise', whole.replaceAll('\n', '\r\n')],
  ])('is rejected with %s', (_, text) => {
    expect(isValid(text)).toBe(false)
    expect(parseSignInMessage(text, 'evm')).toBeUndefined()
  })

  test('is rejected with a user in the domain', () => {
    expect(isParsed(whole.replace('example.com wants', 'ada@example.com wants'))).toBe(false)
  })

  const parts = fc.constantFrom(
    ...[
      ...`ab9Z :/?#[]@!$&'()*+,;=-._~%"<>\\^{|}\`é\t`,
      '%20',
      '://',
      '::',
      '[::1]',
      '127.0.0.1',
      'https:',
      '//',
      '1:2',
    ],
  )
  const text = fc.array(parts, { maxLength: 12 }).map((it) => it.join(''))
  test.each<[string, (value: string) => string]>([
    ['statement', (value) => withStatement(`a${value}`)],
    ['resource', (value) => withLine('- ', value)],
    ['resource with a scheme', (value) => withLine('- ', `https:${value}`)],
    ['URI', (value) => withLine('URI: ', `a:${value}`)],
    ['host', (value) => withLine('URI: ', `https://[${value}]/`)],
    ['request id', (value) => withLine('Request ID: ', value)],
  ])('accepts the same %s as the grammar', (_, textOf) => {
    fc.assert(
      fc.property(text, (value) => {
        expect(isParsed(textOf(value))).toBe(isValid(textOf(value)))
      }),
      { numRuns: 150 },
    )
  })

  const group = fc.constantFrom('1', 'ffff', '0db8', '', '', '12345', 'g', '1.2.3.4', '256.1.1.1', '1.2.3')
  test('accepts the same IPv6 addresses as the grammar', () => {
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 9 }), (groups) => {
        const message = withLine('URI: ', `http://[${groups.join(':')}]/`)
        expect(isParsed(message)).toBe(isValid(message))
      }),
      { numRuns: 500 },
    )
  })
})

describe('a Solana message', () => {
  const solana = {
    domain: 'example.com',
    address: solanaAddress,
    ...fields,
    chainId: 'mainnet',
    statement: 'Sign in, please.',
  }
  const rebuilt = (message: string) => {
    const parsed = parseSignInMessage(message, 'solana')
    return parsed && formatSignInMessage(parsed)
  }

  test('is accepted in the library format with and without optional fields', () => {
    const { statement: _, ...bare } = solana
    const all = { ...solana, expirationTime: time, notBefore: time, requestId: '1', resources: ['https://a.example/'] }
    for (const input of [solana, bare, all, { domain: 'a.example', address: solanaAddress, nonce: 'abcdef0123' }]) {
      const message = createSignInMessageText(input)
      expect(rebuilt(message)).toBe(message)
      expect(parseSignInMessageText(message)).not.toBeNull()
    }
  })

  test('is formatted like the library formats it', () => {
    const { domain, statement, ...rest } = solana
    const fields = { chainType: 'solana', domain, address: solanaAddress, statement } as const
    const { address: __, ...values } = rest
    expect(formatSignInMessage({ ...fields, fields: values })).toBe(createSignInMessageText(solana))
  })

  test('is accepted with its fields in any order', () => {
    const head = `example.com wants you to sign in with your Solana account:\n${solanaAddress}\n\nSign in.\n\n`
    const lines = ['URI: https://example.com', 'Nonce: abcdef0123', `Issued At: ${time}`, 'Chain ID: solana:mainnet']
    fc.assert(
      fc.property(fc.shuffledSubarray(lines, { minLength: 1 }), (order) => {
        const message = `${head}${order.join('\n')}`
        expect(rebuilt(message)).toBe(message)
      }),
    )
    const message = `${head}${lines.join('\n')}`
    expect(parseSignInMessage(message, 'solana')).toMatchObject({
      statement: 'Sign in.',
      fields: { uri: 'https://example.com', nonce: 'abcdef0123', issuedAt: time, chainId: 'solana:mainnet' },
    })
  })

  test.each([
    ['a field twice', (message: string) => `${message}\nNonce: abcdef0123`],
    ['a field that there is not', (message: string) => `${message}\nRole: owner`],
    [
      'a line after its resources',
      (message: string) => `${message}\nResources:\n- https://a.example\nNonce: abcdef0123`,
    ],
    ['a resource that is no URI', (message: string) => `${message}\nResources:\n- nothing`],
    ['quotes in its statement', (message: string) => message.replace('please', '"please"')],
    ['letters beyond ASCII in its statement', (message: string) => message.replace('please', 'bitte schön')],
    ['a URI with a blank', (message: string) => message.replace('/in', '/in here')],
    ['an empty line behind it', (message: string) => `${message}\n`],
    ['blanks between its fields', (message: string) => message.replace('\nNonce', '\n\nNonce')],
  ])('is rejected with %s', (_, change) => {
    const message = createSignInMessageText(solana)
    expect(rebuilt(message)).toBe(message)
    expect(parseSignInMessage(change(message), 'solana')).toBeUndefined()
  })
})

test('reads the chain type from the first line', () => {
  expect(readChainType(whole)).toBe('evm')
  expect(readChainType(createSignInMessageText({ domain: 'a.example', address: solanaAddress }))).toBe('solana')
  expect(readChainType('')).toBe('evm')
})

test('finds every nonce in a text', () => {
  expect(findNonces('Nonce: one\nx\nNonce: two \r\nNonce:three')).toEqual(['one', 'two'])
})
