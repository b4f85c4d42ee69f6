import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

const program = `
import { execFileSync } from 'node:child_process'
import { isPublicAddress } from ${JSON.stringify(join(projectFolder, 'src/main/platform/net/publicAddress.ts'))}
const addresses = ['5.6.7.8', '2a00:1450::8', '5.6.7.9']
const check = () => addresses.map(isPublicAddress)
execFileSync('ip', ['link', 'set', 'lo', 'up'])
const before = check()
execFileSync('ip', ['address', 'add', '5.6.7.8/32', 'dev', 'lo'])
execFileSync('ip', ['address', 'add', '2a00:1450::8/128', 'dev', 'lo'])
process.stdout.write(JSON.stringify({ before, after: check() }))
`

/** Runs Node.js in a network namespace in which addresses can be added. */
function runInNamespace(): string {
  const parts = ['--user', '--map-root-user', '--net', process.execPath, '--input-type=module', '-e', program]
  return execFileSync('unshare', parts, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

skipWhen(findReason())

function findReason(): string | null {
  try {
    execFileSync('unshare', ['--user', '--map-root-user', '--net', 'ip', 'link'], { stdio: 'ignore' })
    return null
  } catch {
    return 'A network namespace, or `ip`, is missing here.'
  }
}

test('a public address is closed as soon as it belongs to this computer', () => {
  expect(JSON.parse(runInNamespace())).toEqual({ before: [true, true, true], after: [false, false, true] })
})
