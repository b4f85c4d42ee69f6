import { expect, test } from 'vitest'
import { nameserversElsewhere } from './nameserversElsewhere.ts'

test('records are in force only where every nameserver is the registrar’s', () => {
  const own = ['ns1.registry.test', '.name.com']
  expect(nameserversElsewhere(['NS1.registry.test', 'ns7abc.name.com'], own)).toBe(false)
  expect(nameserversElsewhere(['ns1.registry.test', 'ns1.elsewhere.net'], own)).toBe(true)
  expect(nameserversElsewhere(['evilname.com', 'ns1.registry.test'], own)).toBe(true)
})

test('where the registrar’s are not known, nothing is claimed', () => {
  expect(nameserversElsewhere(['ns1.elsewhere.net'], undefined)).toBe(false)
})
