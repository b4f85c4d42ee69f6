import { expect, test } from 'vitest'
import { networkRefusal } from './networkAbilities.ts'

const findFix = (refusal: string, tunnelExists = true) => networkRefusal(refusal, { tunnelExists }).cure

test('what pasta and nft say is told with the command that helps, where there is one', () => {
  expect(findFix('Failed to open tun socket in namespace')).toContain('sudo chmod 666 /dev/net/tun')
  expect(findFix('Failed to open tun socket in namespace')).toContain('/etc/udev/rules.d/')
  expect(findFix('Failed to open() /dev/net/tun: No such file or directory', false)).toContain('sudo modprobe tun')
  expect(findFix('its rules could not be set: Operation not supported')).toBe('sudo modprobe nf_tables')
  expect(findFix('this user may not make a user namespace with a network: Operation not permitted')).toBeNull()
  expect(networkRefusal('No external routable interface for IPv4', { tunnelExists: true })).toEqual({
    because: 'this machine has no IPv4 network itself',
    cure: null,
  })
  expect(networkRefusal('something new', { tunnelExists: true })).toEqual({ because: undefined, cure: null })
})
