import { createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { Network } from '#shared/contract/sandboxes.ts'
import { createSandboxSpec, never } from '../fixtures/sandboxSpecs.ts'
import { pastas } from './pastas.ts'

/** Creates one sandbox for each network, probes what each can reach, and prints the results as JSON. */
const [folder = ''] = process.argv.slice(2)
const runtime = createBubblewrapRuntime({ folder, log: silentLog, now: Date.now })

const reaches = (address: string, port: number, seconds = 30): string =>
  `timeout ${seconds} bash -c 'exec 3<>/dev/tcp/${address}/${port} && cat <&3' 2>/dev/null || echo -`
const attempts = {
  public: reaches('203.0.113.7', 80),
  byName: reaches('anything.example', 80),
  private: reaches('10.77.0.1', 80),
  metadata: reaches('169.254.169.254', 80),
  ownAddress: reaches('198.51.100.2', 5000),
  hostLoopback: `${['127.0.0.1', '10.0.2.2', '10.0.2.15'].map((it) => reaches(it, 4000, 4)).join('; ')}`,
  mapped: reaches('::ffff:10.77.0.1', 80),
  frames: `perl -e 'socket(my $s, 17, 3, 0x0300) ? print "open" : print "-"'`,
  rules: 'nft flush ruleset 2>/dev/null && echo flushed || echo -',
  card: 'ip link set eth0 down 2>/dev/null && echo down || echo -',
  tunnel: 'ls /dev/net/tun 2>/dev/null || echo -',
  ownLoopback: `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:7000"); if (fork) { $c = $s->accept; print $c "mine"; close $c } else { $c = IO::Socket::INET->new("127.0.0.1:7000"); print <$c>; exit }; wait'`,
}

const observations: Record<string, Record<string, string>> = {}
for (const network of Network.options) {
  const spec = createSandboxSpec({ network })
  const instance = await runtime.create(spec, never)
  const results: Record<string, string> = {}
  for (const [name, command] of Object.entries(attempts)) {
    const { stdout } = await instance.exec({ command, timeoutMs: 120_000, signal: never })
    results[name] = stdout.toString().trim()
  }
  observations[network] = results
  await instance.stop()
  await runtime.remove(spec.id)
}

// Changes the network from none to internet and back. Only the network of the current start applies.
const spec = createSandboxSpec({ network: 'none' })
await (await runtime.create(spec, never)).stop()
const changed: string[] = []
for (const network of ['internet', 'none'] as const) {
  const instance = await runtime.start({ ...spec, network }, never)
  const { stdout } = await instance.exec({ command: attempts.byName, timeoutMs: 120_000, signal: never })
  changed.push(stdout.toString().trim())
  await instance.stop()
}
await runtime.remove(spec.id)
process.stdout.write(JSON.stringify({ report: await runtime.describe(), seen: observations, changed, left: pastas() }))
