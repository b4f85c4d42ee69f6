import { expect, test } from 'vitest'
import { buildPerlScript } from '../../perlScript.ts'
import { buildNetworkArguments } from './connectNetwork.ts'

test('network.pl reads exactly the arguments that it receives', () => {
  const tools = { perl: 'perl', pasta: 'pasta', nft: 'nft', way: 'files', hasFrameRules: true } as const
  const request = buildNetworkArguments({ tools, network: 'internet', uid: 1, closed: ['10.0.0.0/8'] })
  const script = buildPerlScript('network')
  const keysRead = new Set([...script.matchAll(/\$options->\{(\w+)\}/g)].map(([, key = '']) => key))
  // `tryToConnect`, the supervisor and `perlScript` add these.
  for (const key of ['users', 'net', 'new', 'calls']) keysRead.delete(key)
  expect([...keysRead].sort()).toEqual(Object.keys(request).sort())
  expect(request.own_rules).toEqual({ rules: ['inet steward own', 'reject'], frames: ['netdev steward own', 'drop'] })
})
