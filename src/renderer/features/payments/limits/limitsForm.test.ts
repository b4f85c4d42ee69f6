import { expect, test } from 'vitest'
import type { PaymentBudgetLimits } from '#shared/contract/paymentBudgets.ts'
import { parseLimitsForm, toLimitsForm } from './limitsForm.ts'

const limits: PaymentBudgetLimits = {
  ...{ payment_micro_usd: 5_000_000, day_micro_usd: 0, month_micro_usd: null, ask_first_payee: true },
  hosts: [{ host: 'api.example', month_micro_usd: 1_500_000 }],
  local_servers: ['127.0.0.1:8080', 'localhost:3000'],
  payees: [{ payee: 'eip155:8453:0x209693bc6afc0c5328ba36faf03c514ef312287c', month_micro_usd: 1 }],
}

test('round-trips displayed limits', () => {
  const form = toLimitsForm(limits)
  expect([form.payment, form.day, form.month]).toEqual(['5', '0', ''])
  expect(parseLimitsForm(form)).toEqual({ limits })
})

test('reports each invalid field and ignores empty rows', () => {
  const form = toLimitsForm(limits)
  expect(parseLimitsForm({ ...form, hosts: [{ key: 'n', name: ' ', amount: '' }] })).toMatchObject({
    limits: { hosts: [] },
  })
  const wrong = parseLimitsForm({
    ...{ ...form, payment: 'much' },
    hosts: [{ key: 'n', name: 'https://x y', amount: '-1' }],
  })
  expect('faults' in wrong && wrong.faults.map(({ field }) => field)).toEqual(['payment', 'n amount', 'n name'])
})

test('requires a port for a server of this computer', () => {
  const form = toLimitsForm(limits)
  expect(form.localServers).toBe('127.0.0.1:8080, localhost:3000')
  expect(parseLimitsForm({ ...form, localServers: '10.0.0.1:80' })).toEqual({
    faults: [
      { field: 'local_servers', message: 'Must be a host of this computer with its port, as in 127.0.0.1:8080.' },
    ],
  })
})

test('rejects two limits for one host', () => {
  const [host] = toLimitsForm(limits).hosts
  const twice = parseLimitsForm({ ...toLimitsForm(limits), hosts: host ? [host, { ...host, key: 'again' }] : [] })
  expect(twice).toEqual({ faults: [{ field: 'hosts', message: 'Must not name a host twice.' }] })
})
