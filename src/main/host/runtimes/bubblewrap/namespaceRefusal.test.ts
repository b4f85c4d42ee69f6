import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findNamespaceRefusal } from './namespaceRefusal.ts'

const allowed = { clone: '1', maxNamespaces: '15000', appArmor: '0' }
const refusalWith = (settings: Partial<Record<keyof typeof allowed, string | undefined>>) =>
  findNamespaceRefusal('bwrap: No permissions.', () => ({ ...allowed, ...settings }))

test('names the setting that forbids user namespaces and a permanent fix', () => {
  expect(refusalWith({ clone: '0' })).toEqual({
    reason:
      'bwrap is installed but cannot create a sandbox (bwrap: No permissions). User namespaces are disabled for unprivileged users.',
    cure: "sudo sysctl -w kernel.unprivileged_userns_clone=1 && echo 'kernel.unprivileged_userns_clone = 1' | sudo tee -a /etc/sysctl.d/90-steward.conf",
  })
  expect(refusalWith({ maxNamespaces: '0' }).cure).toContain('sudo sysctl -w user.max_user_namespaces=15000')
})

test('suggests the bundled profile where AppArmor forbids user namespaces', () => {
  const cure = refusalWith({ appArmor: '1' }).cure ?? ''
  const file = /install -m 644 (\S+) /.exec(cure)?.[1] ?? ''
  expect(existsSync(file)).toBe(true)
  expect(cure).toContain('sudo apparmor_parser -r /etc/apparmor.d/steward-sandboxes')
})

test('suggests no command for an unknown cause', () => {
  expect(refusalWith({ clone: undefined, appArmor: undefined }).cure).toBeNull()
})
