import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectFolder } from '../support/fixtures/testProject.ts'

/** Ubuntu requires a profile since 24.04. The rules that allow user namespaces came with AppArmor 4. */
const profile = join(projectFolder, 'resources/packaging/apparmor/steward-sandboxes')
const parser = ['/usr/sbin/apparmor_parser', '/sbin/apparmor_parser'].find((path) => existsSync(path))
const isOld = !existsSync('/etc/apparmor.d/abi/4.0')
const missing = parser === undefined ? 'there is no apparmor_parser' : isOld ? 'AppArmor is older than 4' : undefined

test('the AppArmor profile covers every program that makes user namespaces for sandboxes', () => {
  const text = readFileSync(profile, 'utf8')
  for (const program of ['/usr/bin/bwrap', '/usr/bin/perl', '/usr/bin/unshare']) {
    expect(text).toMatch(new RegExp(`^profile \\S+ ${program}\\S* flags=\\(unconfined\\) \\{\\n {2}userns,$`, 'm'))
  }
})

test('AppArmor parses the profile', (context) => {
  context.skip(missing !== undefined, missing)
  const { status, stderr } = spawnSync(parser ?? '', ['--skip-kernel-load', '--skip-cache', profile])
  expect([status, stderr.toString()]).toEqual([0, expect.not.stringContaining('error')])
  expect(execFileSync(parser ?? '', ['--names', profile]).toString()).toContain('steward-perl')
})
