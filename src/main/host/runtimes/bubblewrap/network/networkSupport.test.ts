import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { findExecutable } from '../hostTools.ts'
import { findNetworkRefusal, probeNetwork } from './networkSupport.ts'

const findFix = (refusal: string, tunnelExists = true) => findNetworkRefusal(refusal, { tunnelExists }).cure

test('a pasta or nft error is reported with its fix, if there is one', () => {
  expect(findFix('Failed to open tun socket in namespace')).toContain('sudo chmod 666 /dev/net/tun')
  expect(findFix('Failed to open tun socket in namespace')).toContain('/etc/udev/rules.d/')
  expect(findFix('Failed to open() /dev/net/tun: No such file or directory', false)).toContain('sudo modprobe tun')
  expect(findFix('its rules could not be set: Operation not supported')).toBe('sudo modprobe nf_tables')
  expect(findFix('this user may not make a user namespace with a network: Operation not permitted')).toBeNull()
  expect(findNetworkRefusal('No external routable interface for IPv4', { tunnelExists: true })).toEqual({
    because: 'this computer has no IPv4 network',
    cure: null,
  })
  expect(findNetworkRefusal('something new', { tunnelExists: true })).toEqual({ because: undefined, cure: null })
})

/** Rejects rules that kernels before Linux 5.16 do not support, as nft does on them. */
const oldNft = `#!/bin/sh
rules=$(/bin/cat)
case $rules in *egress*) echo 'Error: Could not process rule: Operation not supported' >&2; exit 1 ;; esac
printf '%s\\n' "$rules" | /mnt/nft -f -
`
/** Replaces the real nft in a mount namespace. */
const prepare = [
  'mount -t tmpfs none /mnt',
  'cp "$1" /mnt/nft',
  'printf %s "$2" > /mnt/old',
  'chmod 755 /mnt/old',
  'mount --bind /mnt/old "$1"',
  'shift 2',
  'exec "$@"',
].join(' && ')
const probe = `
import { probeNetwork } from ${JSON.stringify(new URL('./networkSupport.ts', import.meta.url).href)}
process.stdout.write(JSON.stringify(await probeNetwork(['10.0.0.0/8'])))
`

test('sandboxes have networks without raw frame filtering, and the description states it', async (context) => {
  const nft = await findExecutable('nft')
  const { tools } = await probeNetwork(['10.0.0.0/8'])
  if (!nft || !tools) return context.skip('sandboxes have no network here')
  if (process.getuid?.() !== 0) return context.skip('only root can put another nft in the place of this one')
  const node = [process.execPath, '--input-type=module', '--eval', probe]
  const { stdout } = await promisify(execFile)('unshare', ['--mount', 'sh', '-c', prepare, 'sh', nft, oldNft, ...node])
  expect(JSON.parse(stdout)).toEqual({
    tools: { ...tools, hasFrameRules: false },
    networks: ['none', 'internet', 'open'],
    detail:
      'This kernel cannot filter raw Ethernet frames from sandboxes (Linux 5.16 can). The system call filter and the missing right to raw sockets still block them.',
    cure: null,
  })
})
