import { expect, test } from 'vitest'
import { readCredential } from './requestCredential.ts'

test.each([
  [{ authorization: 'Bearer key' }, 'key'],
  [{ authorization: 'bearer   key ' }, 'key'],
  [{ authorization: 'key' }, 'key'],
  [{ 'x-api-key': ' key ' }, 'key'],
  [{ authorization: 'first', 'x-api-key': 'second' }, 'first'],
  [{ authorization: '', 'x-api-key': 'second' }, ''],
  [{ authorization: 'Bearer' }, ''],
  [{ authorization: 'bearerkey' }, 'bearerkey'],
  [{}, undefined],
])('headers %j contain the credential %j', (headers, credential) => expect(readCredential(headers)).toBe(credential))
