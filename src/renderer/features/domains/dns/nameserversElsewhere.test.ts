import { expect, test } from 'vitest'
import { areNameserversElsewhere } from './nameserversElsewhere.ts'

test('records are in force only where every nameserver is the registrar’s', () => {
  const own = ['ns1.registry.test', '.name.com']
  expect(areNameserversElsewhere(['NS1.registry.test', 'ns7abc.name.com'], own)).toBe(false)
  expect(areNameserversElsewhere(['ns1.registry.test', 'ns1.elsewhere.net'], own)).toBe(true)
  expect(areNameserversElsewhere(['evilname.com', 'ns1.registry.test'], own)).toBe(true)
})

test('where the registrar’s are not known, nothing is claimed', () => {
  expect(areNameserversElsewhere(['ns1.elsewhere.net'], undefined)).toBe(false)
})
