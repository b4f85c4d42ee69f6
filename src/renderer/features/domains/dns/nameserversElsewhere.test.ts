import { expect, test } from 'vitest'
import { areNameserversElsewhere } from './nameserversElsewhere.ts'

test('treats records as active only if every nameserver belongs to the registrar', () => {
  const own = ['ns1.registry.test', '.name.com']
  expect(areNameserversElsewhere(['NS1.registry.test', 'ns7abc.name.com'], own)).toBe(false)
  expect(areNameserversElsewhere(['ns1.registry.test', 'ns1.elsewhere.net'], own)).toBe(true)
  expect(areNameserversElsewhere(['evilname.com', 'ns1.registry.test'], own)).toBe(true)
})

test('makes no claim if the nameservers of the registrar are unknown', () => {
  expect(areNameserversElsewhere(['ns1.elsewhere.net'], undefined)).toBe(false)
})
