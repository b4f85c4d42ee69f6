import { afterEach, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { AccountId } from '#shared/ids.ts'
import { createServicePrincipals, type PrincipalRights, type ServicePrincipals, toIssuer } from './principals.ts'

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

test('ending a principal ends everything it issued, with a message for each', async () => {
  const keys = openPrincipals()
  const request = await principals.lease('key:one', 'request')
  const socket = await principals.lease('link:made by one', 'poll')
  const otherLease = await principals.lease('key:two', 'completion')
  expect(socket.error).toBeUndefined()
  keys.delete('one')
  await principals.end('key:one')
  expect(request.error?.toBody()).toMatchObject({ code: 'auth/invalid', error: 'This API key was revoked.' })
  expect(socket.error?.message).toBe('This terminal link has ended.')
  expect(otherLease.error).toBeUndefined()
  expect(principals.count()).toEqual({ completion: 1 })
})

test('a principal of an unknown kind has no rights', async () => {
  openPrincipals()
  expect(await principals.isPresent('frame:one')).toBe(false)
  expect((await principals.lease('nobody:one', 'request')).error?.message).toBe('This credential has ended.')
})

test('a revocation while the rights are read ends the lease', async () => {
  openPrincipals()
  const { promise: rights, resolve } = Promise.withResolvers<PrincipalRights | undefined>()
  principals.add('sign-in', () => rights)
  const ended: string[] = []
  const leasing = principals.lease('sign-in:fam_1', 'request', { onEnd: ({ message }) => ended.push(message) })
  const ending = principals.end('sign-in:fam_1')
  resolve({ accountId }) // read before the revocation was committed
  expect((await leasing).error?.message).toBe('This sign-in has ended.')
  await ending
  expect(ended).toEqual(['This sign-in has ended.'])
  expect(principals.count()).toEqual({})
})

test('a lease reads the rights again if a principal ended since the revision', async () => {
  const keys = openPrincipals()
  const revision = principals.revision()
  keys.delete('one')
  await principals.end('key:one')
  const late = await principals.lease('key:one', 'request', { revision })
  expect(late.error?.message).toBe('This API key was revoked.')
  expect((await principals.lease('key:two', 'request', { revision })).error).toBeUndefined()
  expect(principals.count()).toEqual({ request: 1 })
})

test('a lease reads no rights while the revision is unchanged', async () => {
  openPrincipals()
  let reads = 0
  principals.add('sign-in', () => {
    reads += 1
    return { accountId }
  })
  const lease = await principals.lease('sign-in:fam_1', 'request', { revision: principals.revision() })
  expect([lease.error, reads]).toEqual([undefined, 0])
  await principals.lease('sign-in:fam_1', 'request')
  expect(reads).toBe(1)
})

test('a failed lookup leaves no lease', async () => {
  openPrincipals()
  principals.add('sign-in', () => Promise.reject(new Error('The database is away.')))
  await expect(principals.lease('sign-in:fam_1', 'request')).rejects.toThrow('The database is away.')
  expect(principals.count()).toEqual({})
})

test('stores keys and sign-ins as issuers but not the window', () => {
  openPrincipals()
  expect(toIssuer('key:key_1')).toEqual({ keyId: 'key_1', signIn: null })
  expect(toIssuer('sign-in:fam_1')).toEqual({ keyId: null, signIn: 'fam_1' })
  expect(toIssuer('person:window')).toEqual({ keyId: null, signIn: null })
})
