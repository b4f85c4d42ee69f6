import { afterEach, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { AccountId } from '#shared/ids.ts'
import { createServicePrincipals, type ServicePrincipals, toIssuer } from './principals.ts'

const accountId = AccountId.parse('acct_ada')
let principals: ServicePrincipals

function openPrincipals() {
  const keys = new Set(['one', 'two'])
  const links = new Map([['made by one', 'one']])
  principals = createServicePrincipals({ now: () => 0, log: silentLog })
  principals.add('key', (id) => (keys.has(id) ? { accountId } : undefined))
  principals.add('link', (id) => (keys.has(links.get(id) ?? '') ? { accountId } : undefined))
  return keys
}
afterEach(() => principals.close())

test('ending a principal ends everything it issued, with a message for each', () => {
  const keys = openPrincipals()
  const [request, socket] = [principals.lease('key:one', 'request'), principals.lease('link:made by one', 'poll')]
  const otherLease = principals.lease('key:two', 'completion')
  expect(socket.may()).toEqual({ accountId })
  keys.delete('one')
  principals.end('key:one')
  expect(request.error?.toBody()).toMatchObject({ code: 'auth/invalid', error: 'This API key was revoked.' })
  expect(socket.error?.message).toBe('This terminal link has ended.')
  expect(otherLease.error).toBeUndefined()
  expect(principals.count()).toEqual({ completion: 1 })
})

test('a principal of an unknown kind has no rights', () => {
  openPrincipals()
  expect(principals.isPresent('frame:one')).toBe(false)
  expect(principals.lease('nobody:one', 'request').error?.message).toBe('This credential has ended.')
})

test('stores keys and sign-ins as issuers but not the window', () => {
  openPrincipals()
  expect(toIssuer('key:key_1')).toEqual({ keyId: 'key_1', signIn: null })
  expect(toIssuer('sign-in:fam_1')).toEqual({ keyId: null, signIn: 'fam_1' })
  expect(toIssuer('person:window')).toEqual({ keyId: null, signIn: null })
})
