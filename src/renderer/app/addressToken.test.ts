import { expect, test } from 'vitest'
import { takeAddressToken } from './addressToken.ts'

function take(address: string): { token: string | undefined; left: string | undefined } {
  let left: string | undefined
  const history = {
    replaceState: (_: unknown, __: string, url?: string | URL | null) => {
      left = String(url)
    },
  }
  return { token: takeAddressToken(new URL(address), history), left }
}

test('removes the token from the address', () => {
  expect(take('http://127.0.0.1:4000/#token=one-time')).toEqual({ token: 'one-time', left: '/' })
  expect(take('http://127.0.0.1:4000/?x=1#token=a%2Fb')).toEqual({ token: 'a/b', left: '/?x=1' })
})

test('leaves an address without a token unchanged', () => {
  expect(take('http://127.0.0.1:4000/#/terminals')).toEqual({ token: undefined, left: undefined })
})

test('treats an empty token as missing', () => {
  expect(take('http://127.0.0.1:4000/#token=')).toEqual({ token: undefined, left: '/' })
})
