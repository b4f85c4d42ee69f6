import { cpus, loadavg, release, totalmem } from 'node:os'
import { milliseconds, percentile, type Samples } from './figures.ts'
import { maxSpawnerMegabytes } from './peers/measurePeer.ts'

export type Row = {
  subject: string
  /** Result of Steward, formatted. */
  steward: string
  /** Result of the peer in the same run, formatted, or `–` without a peer. */
  peer: string
  /** Processor time of Steward per unit, formatted. */
  processor?: string
  /** Steward's figure divided by the peer's. */
  ratio: number | undefined
  target: string
}

type TimeFigures = { mine: Samples; peer?: Samples; peerName?: string; percent: number; processor?: string }

/** Creates a row for a duration, where lower is better, with the peer's figure if there is one. */
export function timeRow(
  subject: string,
  target: string,
  { mine, peer, peerName, percent, processor }: TimeFigures,
): Row {
  const value = percentile(mine, percent)
  const peerMs = peer === undefined ? undefined : percentile(peer, percent)
  return {
    subject: `${subject}, p${percent}`,
    steward: milliseconds(value),
    peer: peerMs === undefined ? '–' : `${milliseconds(peerMs)} (${peerName ?? ''})`,
    ratio: peerMs === undefined ? undefined : value / peerMs,
    target,
    ...(processor !== undefined && { processor }),
  }
}

/** Creates a row for a rate per second, where higher is better, from the median of single tries. */
export function rateRow(
  subject: string,
  { mine, peer, peerName }: { mine: Samples; peer: Samples; peerName: string },
): Row {
  const [rate, other] = [perSecond(mine), perSecond(peer)]
  const figure = (value: number) => `${Math.round(value).toLocaleString('en-US')}/s`
  return { subject, steward: figure(rate), peer: `${figure(other)} (${peerName})`, ratio: rate / other, target: '–' }
}

function perSecond(samples: Samples): number {
  return 1000 / percentile(samples, 50)
}

export type Conditions = { date: Date; loadBefore: number; node: string; quick: boolean }

export function conditionsNow(quick: boolean): Conditions {
  return { date: new Date(), loadBefore: loadavg()[0] ?? Number.NaN, node: process.version, quick }
}

/** Formats the page that `npm run bench` writes. */
export function benchPage(rows: readonly Row[], conditions: Conditions): string {
  const { date, loadBefore, node, quick } = conditions
  const model = cpus()[0]?.model ?? 'unknown processor'
  const table = rows.map(
    ({ subject, steward, processor = '–', peer, ratio, target }) =>
      `| ${subject} | ${steward} | ${processor} | ${peer} | ${ratio === undefined ? '–' : `${ratio.toFixed(2)}×`} | ${target} |`,
  )
  return `# Speed

Written by \`npm run bench\`; every peer was measured in the same run, on the same machine, right before or after.

- When: ${date.toISOString()}${quick ? ' (a quick run: few tries, not for comparison)' : ''}
- Machine: ${cpus().length} × ${model}, ${(totalmem() / 1e9).toFixed(0)} GB, Linux ${release()}, Node ${node}
- Load before the run (1 minute): ${loadBefore.toFixed(2)}

| what | Steward | CPU for one | peer | ratio | target |
|---|---|---|---|---|---|
${table.join('\n')}

How each is measured:

- **create → first result**: \`POST /v1/sandboxes\`, then \`POST …/exec\` of \`true\`, until its answer. By hand: \`bwrap --unshare-all …\`, then
  \`nsenter … bash -c true\`, without limits, files of its own or a record. **cold**: with \`sandboxes.warm_pool_size: 0\`, one after the other. **from the
  warm pool**: with the default, each once the host has started the next one. **burst**: 100 at once, each until its own command has answered.
- **by hand, tmux**: started by a small process of their own (under ${maxSpawnerMegabytes} MB), because a fork costs more the larger its process is.
- **CPU for one**: processor time of service, host and the helpers that they start outside of sandboxes, from \`/proc/PID/stat\`, including
  helpers that have ended. Each process counts once.
- **exec**: \`POST …/exec\` of \`true\`. By hand: \`nsenter … bash -c true\` into a sandbox that runs.
- **write → on the screen**: a line typed with \`POST …/write\`, then \`GET …/read\` until the shell's answer is there. tmux: \`send-keys\`, then
  \`capture-pane\` until it is there.
- **echo**: one character into \`cat\` over the stream WebSocket until it comes back. Raw node-pty: the same in one process, outside a sandbox. With
  floods: four other terminals print without end, each with a viewer that acknowledges.
- **output**: 100 MB printed by one command, counted by a client of the stream; less than every byte fails the run. In Chromium: until xterm.js has
  drawn the last line, with its renderer for the DOM, since this browser has no graphics processor. Alone: in a page with nothing else, which is
  given the same lines out of memory, so that no other process needs the processor.
- **other calls**: \`GET /v1/sandboxes\`.
- **cold start**: from the command line to the \`ready\` line, with everything built. **first screen**: until the window of a browser that
  already runs and has come to rest shows the button that creates a sandbox, looked for with every frame.
- **wallet**: an intent is prepared, shown, signed with a key that is unsealed and derived from its phrase for this one signature, and verified before
  it is returned; viem and tweetnacl sign with a key that lies in memory. **verify**: a sign-in message against its address, as the service does.
  **canonical hash**: a profile to its canonical JSON and keccak256. **unlock**: the passphrase, with scrypt at N = 2^17, to a wallet that signs.
- **sign, verify, hash, unlock**: Steward and the peer in turn, try by try. An intent is built, shown, built again, signed and verified by a wallet whose
  passphrase costs what it always does; the peer holds a bare key and verifies nothing.
- **gateway**: the service as a process, with accounts, API keys and its ledger, before a provider of chat completions that answers at once
  from a process of its own. Straight: the client asks that provider itself; added is what a gateway takes beyond it. Portkey's gateway
  (\`@portkey-ai/gateway\`) runs as its package starts it, without accounts or a ledger. A bare proxy: node:http and a pool of undici, which
  hand each request on and do nothing else. All take turns, three rounds; of rates the
  best round counts. Gateways that are no JavaScript publish more on other hardware: agentgateway p50 0.23 ms at 3,000 requests a second,
  TensorZero p99 0.94 ms at 10,000 on 4 processors.
- **activity**: a log of 100,000 entries of tools in a file of its own, read in the process that holds it: pages of 100, as the window asks for
  them.
- **leases**: taken and released by the registry of the service with its repositories, by processor time. A key is looked up in memory,
  a sign-in in the database. At the agent a call also reads its rights from the database, as each use of them does.
- **tools**: \`sandbox_get\` by POST to the agent's \`/mcp\`, and \`GET /v1/sandboxes/:id\` at the service or at the agent,
  in turn; both with \`fetch\`. Lists and the twenty clients by the protocol's own client package, each client with a key and a sandbox of
  its own, without a pause between calls.
- **memory**: proportional set size (PSS) of main, service and host with their helpers, from \`/proc/PID/smaps_rollup\`,
  40 seconds after the start: a page that several processes share counts once.
`
}
