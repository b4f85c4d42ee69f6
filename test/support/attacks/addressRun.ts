import { writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { until } from '../assertions/eventually.ts'
import { reach, refused } from '../network/reach.ts'
import { attackStage } from './stage.ts'

/**
 * Tests whether sandboxes reach this computer's addresses (one on `lo`, one added while they run) and Azure's
 * WireServer, and whether they can ping. Runs in the namespaces of `test/support/network/world.sh`. Prints JSON.
 * Argument: folder.
 */
export type AddressObservation = Record<
  'internet' | 'open',
  Record<'ofLoopback' | 'ofAzure' | 'later' | 'ping', string>
>

const [folder = ''] = process.argv.slice(2)
const later = '203.0.113.99'
const echo = `perl -e '
  socket(my $s, 2, 2, 1) or die "no socket: $!"; connect $s, pack "S n C4 x8", 2, 0, 203, 0, 113, 7;
  send $s, pack("C C n n n", 8, 0, 0xf7ff, 0, 0), 0; vec(my $w = "", fileno $s, 1) = 1;
  select($w, undef, undef, 20) or die "silent"; recv $s, my $answer, 100, 0; print unpack "C", $answer'`

const stage = attackStage(folder)
try {
  const [internet, open] = await Promise.all([stage.make({ network: 'internet' }), stage.make({ network: 'open' })])
  const observe = async (target: typeof internet) => ({
    ofLoopback: await target.said(reach('198.51.100.77:5000', 3)),
    ofAzure: await target.said(reach('168.63.129.16:80', 3)),
    later: '',
    ping: await target.said(echo),
  })
  const observations: AddressObservation = { internet: await observe(internet), open: await observe(open) }
  writeFileSync(join(folder, 'later'), later)
  await until('the later address', () =>
    Object.values(networkInterfaces()).some((card) => card?.some(({ address }) => address === later)),
  )
  observations.open.later = await open.said(reach(`${later}:5000`, 3))
  await until('its refusal', async () => (await internet.said(reach(`${later}:5000`, 3))) === refused)
  observations.internet.later = await internet.said(reach(`${later}:5000`, 3))
  process.stdout.write(JSON.stringify(observations))
} finally {
  await stage.close()
}
