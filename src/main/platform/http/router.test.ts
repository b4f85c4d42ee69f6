import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { createRouter } from './router.ts'

const routes = createRouter([
  { method: 'GET', path: '/ports', to: 'list' },
  { method: 'POST', path: '/ports', to: 'add' },
  { method: 'POST', path: '/ports/expose', to: 'expose' },
  { method: 'DELETE', path: '/ports/:port', to: 'remove' },
  { method: 'GET', path: '/ports/:port', to: 'show' },
] as const)

test.each([
  ['GET', '/ports', 'list', {}],
  ['HEAD', '/ports', 'list', {}],
  ['POST', '/ports/expose', 'expose', {}],
  ['DELETE', '/ports/80', 'remove', { port: '80' }],
  ['GET', '/ports/a%20b%2Fc', 'show', { port: 'a b/c' }],
  ['GET', '/ports/%2e%2e', 'show', { port: '..' }],
])('routes %s %s to %s', (method, path, to, params) => {
  expect(routes.find(method, path)).toEqual({ to, params })
})

test.each([
  ['PUT', '/ports', 'GET, HEAD, POST'],
  ['GET', '/ports/expose', 'POST'],
  ['DELETE', '/ports/expose', 'POST'],
  ['OPTIONS', '/ports/80', 'DELETE, GET, HEAD'],
  ['__proto__', '/ports/80', 'DELETE, GET, HEAD'],
])('%s %s is rejected with the allowed methods', (method, path, allow) => {
  expect(() => routes.find(method, path)).toThrow(
    expect.objectContaining({ code: 'request/method', headers: { allow }, detail: `Allowed methods: ${allow}.` }),
  )
})

test.each([
  ['/', 'request/not-found'],
  ['/ports/', 'request/not-found'],
  ['//ports', 'request/not-found'],
  ['/PORTS', 'request/not-found'],
  ['/ports/80/more', 'request/not-found'],
  [`/ports/${'8'.repeat(5000)}`, 'request/not-found'],
  ['/ports/%zz', 'request/invalid'],
  ['/%', 'request/invalid'],
])('GET %s fails with %s', (path, code) => {
  expect(() => routes.find('GET', path)).toThrow(expect.objectContaining({ code }))
})

test('hints name the document that lists the paths', () => {
  const documented = createRouter([{ method: 'GET', path: '/ports', to: 'list' }], '/local/openapi.json')
  const readHint = (method: string, path: string): unknown => {
    try {
      return documented.find(method, path)
    } catch (error) {
      return error instanceof AppError ? error.toBody().hint : error
    }
  }
  expect(readHint('GET', '/none')).toBe('See /local/openapi.json for every path.')
  expect(readHint('PUT', '/ports')).toBe('See /local/openapi.json for the methods of this path.')
})
