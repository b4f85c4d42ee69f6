import { describe, expect, test } from 'vitest'
import { createPreviewCookies, isPreviewCookie } from './previewCookies.ts'

const tls = createPreviewCookies({ scheme: 'https', behindProxy: false })
const plain = createPreviewCookies({ scheme: 'http', behindProxy: false })
const host = '8000-b.prev.example'

const acceptCookie = (headers: Record<string, string>, method = 'GET') =>
  tls.read({ method, headers: { host, cookie: '__Host-steward_port=spt_a', ...headers } })

describe('the private port cookie', () => {
  test.each([
    ['its own page reads', { 'sec-fetch-site': 'same-origin' }, 'GET'],
    ['its own page writes', { 'sec-fetch-site': 'same-origin', origin: `https://${host}` }, 'POST'],
    ['the user typed the address', { 'sec-fetch-site': 'none' }, 'GET'],
    [
      'a link leads there',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      'GET',
    ],
    ['its own page opens a WebSocket', { upgrade: 'websocket', origin: `https://${host}` }, 'GET'],
    ['a browser without Sec-Fetch reads', {}, 'GET'],
    ['a browser without Sec-Fetch writes from the page', { origin: `https://${host}` }, 'POST'],
  ])('is accepted when %s', (_, headers, method) => {
    expect(acceptCookie(headers, method)).toEqual(['spt_a'])
  })

  test.each([
    ['a neighbour fetches', { 'sec-fetch-site': 'same-site', origin: 'https://8000-a.prev.example' }, 'GET'],
    ['a neighbour writes', { 'sec-fetch-site': 'same-site', origin: 'https://8000-a.prev.example' }, 'POST'],
    [
      'a neighbour frames it',
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      'GET',
    ],
    [
      'a neighbour sends a form',
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      'POST',
    ],
    ['a neighbour opens a WebSocket', { upgrade: 'websocket', origin: 'https://8000-a.prev.example' }, 'GET'],
    ['a WebSocket names no origin', { upgrade: 'websocket', 'sec-fetch-site': 'same-origin' }, 'GET'],
    ['the origin has another scheme', { upgrade: 'websocket', origin: `http://${host}` }, 'GET'],
    ['an old browser writes from elsewhere', { origin: 'https://8000-a.prev.example' }, 'POST'],
    ['an old browser reads from elsewhere', { origin: 'null' }, 'GET'],
    ['a write names nothing', {}, 'POST'],
  ])('is rejected when %s', (_, headers, method) => {
    expect(acceptCookie(headers, method)).toEqual([])
  })

  test('has a __Host- name with TLS, directly or through a proxy', () => {
    expect(tls.format('spt_a')).toBe('__Host-steward_port=spt_a; Path=/; HttpOnly; SameSite=Lax; Secure')
    expect(createPreviewCookies({ scheme: 'http', behindProxy: true }).format('spt_a')).toBe(tls.format('spt_a'))
    expect(plain.format('spt_a')).toBe('steward_port=spt_a; Path=/; HttpOnly; SameSite=Lax')
    expect(tls.read({ method: 'GET', headers: { host, cookie: 'steward_port=spt_evil' } })).toEqual([])
  })

  test('is read from every cookie of the name, up to a limit', () => {
    const cookie = ['other=1', 'steward_port=spt_evil', 'steward_port=spt_right'].join('; ')
    expect(plain.read({ method: 'GET', headers: { host, cookie } })).toEqual(['spt_evil', 'spt_right'])
    const many = Array.from({ length: 80 }, (_, index) => `steward_port=spt_${index}`).join('; ')
    expect(plain.read({ method: 'GET', headers: { host, cookie: many } })).toHaveLength(50)
  })

  test('is removed from forwarded requests under both names', () => {
    expect(['steward_port=a', '__Host-steward_port=a', 'steward_ports=a'].map(isPreviewCookie)).toEqual([
      true,
      true,
      false,
    ])
  })
})

describe('the frame cookie', () => {
  const read = (headers: Record<string, string>) =>
    plain.readFrame({ headers: { host, cookie: 'a=1; steward_frame=spt_a', ...headers } })

  test('is sent only below the page of the frame', () => {
    expect(plain.formatFrame('spt_a')).toBe('steward_frame=spt_a; Path=/; HttpOnly; SameSite=None; Secure; Partitioned')
  })

  test.each([
    ['its own page reads or writes', { 'sec-fetch-site': 'same-origin' }],
    ['its own page opens a WebSocket', { upgrade: 'websocket', origin: `http://${host}` }],
  ])('is accepted when %s', (_, headers) => {
    expect(read(headers)).toEqual(['spt_a'])
  })

  test.each([
    ['a browser does not say who asks', {}],
    ['another page frames the address', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' }],
    ['a neighbour asks', { 'sec-fetch-site': 'same-site', origin: 'http://8000-a.prev.example' }],
    ['the address is typed', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }],
    ['another page opens a WebSocket', { upgrade: 'websocket', origin: 'http://127.0.0.1:4000' }],
    ['a WebSocket has no origin', { upgrade: 'websocket', 'sec-fetch-site': 'same-origin' }],
  ])('is ignored when %s', (_, headers: Record<string, string>) => {
    expect(read(headers)).toEqual([])
  })

  test('is not forwarded beyond Steward', () => {
    expect(isPreviewCookie('steward_frame=spt_a')).toBe(true)
  })
})
