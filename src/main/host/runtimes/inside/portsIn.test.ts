import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { parseListeningPorts } from './portsIn.ts'

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
const row = (local: string, state: string) =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 0 0 0 1`

test('finds listeners on loopback or every address and lists each port once', () => {
  const four = [head, row('0100007F:1F90', '0A'), row('00000000:0BB8', '0A'), row('0100007F:0050', '01')].join('\n')
  const six = [
    head,
    row('00000000000000000000000000000000:0BB8', '0A'),
    row('00000000000000000000000001000000:0016', '0A'),
    row('0000000000000000FFFF00000100007F:0017', '0A'),
  ].join('\n')
  expect(parseListeningPorts([four, six, ''])).toEqual([22, 23, 3000, 8080])
})

test('omits ports reachable only at another address', () => {
  expect(parseListeningPorts([[head, row('0202000A:1F90', '0A')].join('\n')])).toEqual([])
})

test('rejects too many ports instead of listing some', () => {
  const many = (count: number, state: string) => [head, ...Array(count).fill(row('0100007F:1F90', state))].join('\n')
  expect(parseListeningPorts([many(9_999, '0A'), many(10_000, '01')])).toEqual([8080])
  expect(() => parseListeningPorts([many(10_000, '0A')])).toThrow(AppError)
})
