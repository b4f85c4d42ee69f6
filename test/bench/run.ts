/**
 * `npm run bench -- soak [MINUTES]` looks for memory that grows with use, for 30 minutes by default.
 * `npm run bench [-- --quick] [-- --start | --gateway | --domains | --payments | --chat | --timeline | --tools | --leases]`: measures Steward and its peers
 * and writes docs/bench.md. Run it on a machine that does nothing else. A quick run has few tries and prints its page instead of writing it.
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { buildStep, runSteps } from '#scripts/steps.ts'
import { createSandbox, deleteSandbox, listRuntimes } from '#shared/contract/sandboxes.ts'
import type { SandboxId } from '#shared/ids.ts'
import { createStewardClient, type StewardClient } from '../support/clients/stewardClient.ts'
import { removeTestFolders, temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { type Steward, startSteward } from '../support/processes/steward.ts'
import { milliseconds } from './figures.ts'
import { measurePeer } from './peers/measurePeer.ts'
import { rawThroughput } from './peers/rawPty.ts'
import { xtermAlone } from './peers/xtermAlone.ts'
import { benchPage, conditionsNow, type Row, rateRow, timeRow } from './report.ts'
import { soak } from './soak/soak.ts'
import { chatFigures } from './steward/chatFigures.ts'
import { domainRows } from './steward/domainRows.ts'
import { gatewayRows } from './steward/gatewayRows.ts'
import { agentLeaseFigures, leaseFigures } from './steward/leaseFigures.ts'
import { ledgerFigures } from './steward/ledgerFigures.ts'
import { measureConcurrentPayments, paymentFigures } from './steward/paymentFigures.ts'
import { measureColdStarts, megabytesPerTerminal, proportionalMegabytes } from './steward/processFigures.ts'
import {
  burst,
  createToFirstExec,
  execTrue,
  type Measured,
  type Worked,
  withoutWarmPool,
} from './steward/sandboxFigures.ts'
import {
  echoOfRawPty,
  echoOnStream,
  flood,
  otherCalls,
  streamThroughput,
  withFloods,
  withRawFloods,
  writeToScreen,
} from './steward/terminalFigures.ts'
import { timelineRows } from './steward/timelineRows.ts'
import { toolRows } from './steward/toolRows.ts'
import { walletFigures } from './steward/walletFigures.ts'
import { drawnFlood, firstScreens, measureDrawing } from './steward/windowFigures.ts'

const quick = process.argv.includes('--quick')
/** Prints one group of rows without writing the page. */
const only = groups().find(({ flag }) => process.argv.includes(flag))
/** Time without work after which the memory is read: several intervals of `releaseIdleMemory`. */
const idleMs = 40_000
const tries = (count: number) => (quick ? Math.ceil(count / 20) : count)

if (runSteps([buildStep]) > 0) process.exit(1)
const soakAt = process.argv.indexOf('soak')
if (soakAt > 0) {
  try {
    await soak(Number(process.argv[soakAt + 1] ?? 30), (line) => process.stdout.write(`${line}\n`))
  } finally {
    await removeTestFolders()
  }
  process.exit(0)
}
const conditions = conditionsNow(quick)
const rows: Row[] = []
try {
  for await (const row of measure()) {
    rows.push(row)
    process.stdout.write(`${row.subject}: ${row.steward}, peer ${row.peer}\n`)
  }
} finally {
  await removeTestFolders()
}
const page = benchPage(rows, conditions)
if (quick || only !== undefined) process.stdout.write(`\n${page}`)
else writeFileSync(new URL('../../docs/bench.md', import.meta.url), page)

function groups() {
  return [
    { flag: '--start', rows: startRows },
    { flag: '--gateway', rows: gatewayRows },
    { flag: '--domains', rows: domainRows },
    { flag: '--payments', rows: paymentRows },
    { flag: '--chat', rows: chatRows },
    { flag: '--timeline', rows: timelineRows },
    { flag: '--tools', rows: toolRows },
    { flag: '--leases', rows: leaseRows },
  ]
}

async function* measure(): AsyncGenerator<Row> {
  if (only) return yield* only.rows(tries)
  yield* startRows()
  const steward = await startSteward()
  try {
    const client = createStewardClient(steward.serviceUrl, steward.ownerKey)
    await client.call(listRuntimes, {}) // the host responds, so all three processes run
    yield* sandboxRows({ steward, client })
    const name = 'bench'
    const { id } = await client.call(createSandbox, { name, vcpu: 2, memory_mb: 4096, network: 'none' })
    yield* terminalRows(client, id)
    yield* throughputRows({ steward, client }, id)
    const perTerminal = await megabytesPerTerminal({ steward, client, id }, Math.min(40, tries(200)))
    yield plainRow('memory of a terminal with 10,000 lines', `${perTerminal.toFixed(1)} MB`, '≤ 5 MB')
    await client.call(deleteSandbox, { id })
    yield await measureDrawnRow(steward, client)
  } finally {
    await steward.close()
  }
  yield* gatewayRows(tries)
  yield* domainRows(tries)
  yield* timelineRows(tries)
  yield* toolRows(tries)
  yield await ledgerRow()
  yield* leaseRows()
  yield* paymentRows()
  yield* walletRows()
  yield* chatRows()
}

async function* startRows(): AsyncGenerator<Row> {
  yield timeRow('cold start → ready', '≤ 500 ms', { mine: await measureColdStarts(tries(20)), percent: 50 })
  yield timeRow('cold start → first screen', '≤ 1.0 s', { mine: await firstScreens(tries(10)), percent: 50 })
  const steward = await startSteward()
  try {
    await createStewardClient(steward.serviceUrl, steward.ownerKey).call(listRuntimes, {}) // starts the host
    await wait(idleMs)
    yield idleMemory(steward)
  } finally {
    await steward.close()
  }
}

async function* leaseRows(): AsyncGenerator<Row> {
  const { keyMicros, signInMicros, providerMicros, open } = await leaseFigures(tries(400_000))
  const micros = (value: number) => `${value.toFixed(1)} µs`
  yield {
    subject: `leases of a request beside ${open.toLocaleString('en-US')} open streams`,
    steward: `API key ${micros(keyMicros)}, sign-in ${micros(signInMicros)}, its provider ${micros(providerMicros)}`,
    processor: micros(Math.max(keyMicros, signInMicros) + providerMicros),
    peer: '–',
    ratio: undefined,
    target: '≤ 20 µs',
  }
  const agent = await agentLeaseFigures(tries(100_000))
  yield {
    subject: `lease and rights of a tool call beside ${agent.open.toLocaleString('en-US')} others at the agent`,
    steward: `tool client ${micros(agent.toolMicros)}, chat ${micros(agent.chatMicros)}`,
    processor: micros(Math.max(agent.toolMicros, agent.chatMicros)),
    peer: '–',
    ratio: undefined,
    target: '≤ 40 µs',
  }
}

async function* chatRows(): AsyncGenerator<Row> {
  const { opens, types, highlighted, plain, maxTaskMs } = await chatFigures(tries)
  yield timeRow('a chat of 10,000 messages opens', '≤ 150 ms', { mine: opens, percent: 50 })
  yield timeRow('a key typed in it: work of the main thread', '≤ 16.7 ms', { mine: types, percent: 95 })
  yield timeRow('an answer of 640 lines of code is drawn as it comes: work of the main thread', '≤ 1.15×', {
    mine: highlighted,
    peer: plain,
    peerName: 'the same, not highlighted',
    percent: 50,
  })
  const longestTask = maxTaskMs === 0 ? 'none above 50 ms' : milliseconds(maxTaskMs)
  yield plainRow('the longest task meanwhile', longestTask, '≤ 50 ms')
}

async function ledgerRow(): Promise<Row> {
  const { pairsPerSecond, processorMs, flushedPairsPerSecond } = await ledgerFigures({
    pairs: tries(60_000),
    clients: 32,
  })
  const rate = (value: number) => `${Math.round(value).toLocaleString('en-US')}/s`
  return {
    subject: 'ledger: key known, amount held and charged, 32 at once',
    steward: rate(pairsPerSecond),
    peer: `${rate(flushedPairsPerSecond)} (two flushed transactions each)`,
    processor: milliseconds(processorMs),
    ratio: pairsPerSecond / flushedPairsPerSecond,
    target: '≥ 4,500/s',
  }
}

async function* paymentRows(): AsyncGenerator<Row> {
  const { ledger, chain } = await paymentFigures(tries(400))
  const { lastMs, eachProcessorMs } = await measureConcurrentPayments(quick ? 20 : 200)
  yield timeRow('x402 verify, test ledger', '≤ 3 ms', { mine: ledger, percent: 50 })
  yield timeRow('x402 verify, EVM node', '≤ 3 ms', { ...chain, peerName: '@x402/evm', percent: 50 })
  yield {
    ...plainRow(`${quick ? 20 : 200} payments at once, test ledger: all settled`, milliseconds(lastMs), '–'),
    processor: milliseconds(eachProcessorMs),
  }
}

async function* walletRows(): AsyncGenerator<Row> {
  const { typedData, ed25519, verify, canonicalHash, unlock } = await walletFigures(tries)
  yield rateRow('sign typed data, a whole intent', { ...typedData, peerName: 'viem, a bare key' })
  yield rateRow('sign Ed25519, a whole intent', { ...ed25519, peerName: 'tweetnacl, a bare key' })
  yield rateRow('verify a sign-in', { ...verify, peerName: 'ethers' })
  yield rateRow('canonical hash', { ...canonicalHash, peerName: 'ethers' })
  yield timeRow('unlock', '–', { ...unlock, peerName: 'scrypt alone', percent: 50 })
}

/** Measures in a new sandbox with a single, visible tab. */
async function measureDrawnRow(steward: Steward, client: StewardClient): Promise<Row> {
  const name = 'drawn'
  const { id } = await client.call(createSandbox, { name, vcpu: 2, memory_mb: 4096, network: 'none' })
  const drawn = await measureDrawing({ url: steward.url, client, id, name }).catch((error: Error) => error.message)
  await client.call(deleteSandbox, { id })
  const alone = await xtermAlone(drawnFlood)
  return {
    subject: 'output to xterm.js in Chromium',
    steward: typeof drawn === 'string' ? `not measured: ${drawn}` : `${drawn.toFixed(1)} MB/s`,
    peer: `${alone.toFixed(1)} MB/s (xterm.js alone, out of memory)`,
    ratio: typeof drawn === 'string' ? undefined : drawn / alone,
    target: '≥ 20 MB/s',
  }
}

function idleMemory(steward: Steward): Row {
  const { main, service, host } = proportionalMegabytes(steward)
  const parts = `main ${main.toFixed(0)}, service ${service.toFixed(0)}, host ${host.toFixed(0)}`
  return plainRow('memory idle', `${(main + service + host).toFixed(0)} MB (${parts})`, '≤ 130 MB')
}

async function* sandboxRows(measured: Measured): AsyncGenerator<Row> {
  const { client } = measured
  const peer = await measurePeer('create', tries(60))
  const peerName = 'bwrap and nsenter by hand'
  const row = (subject: string, target: string, { samples, processorMs }: Worked): Row =>
    timeRow(subject, target, { mine: samples, peer, peerName, percent: 50, processor: milliseconds(processorMs) })
  const config = withoutWarmPool()
  yield row('create → first result of exec, cold', '≤ 35 ms', await measureColdCreates(measured, config))
  if (config !== undefined)
    yield row(
      'create → first result of exec, from the warm pool',
      '≤ 25 ms',
      await createToFirstExec(measured, tries(60), { settle: true }),
    )
  yield await internetRow(measured, row)
  yield await burstRow(measured)
  const { id } = await client.call(createSandbox, { network: 'none' })
  const exec = await execTrue(measured, id, tries(300))
  yield timeRow('exec `true`', '≤ 8 ms', {
    mine: exec.samples,
    peer: await measurePeer('exec', tries(300)),
    peerName: 'nsenter by hand',
    percent: 50,
    processor: milliseconds(exec.processorMs),
  })
  await client.call(deleteSandbox, { id })
}

/** Measures creation without a warm pool. Runs only if Steward has one by default. */
async function measureColdCreates(measured: Measured, config: object | undefined): Promise<Worked> {
  if (config === undefined) return createToFirstExec(measured, tries(60))
  const steward = await startSteward({ config })
  try {
    const client = createStewardClient(steward.serviceUrl, steward.ownerKey)
    await client.call(listRuntimes, {}) // starts the host
    return await createToFirstExec({ steward, client }, tries(60))
  } finally {
    await steward.close()
  }
}

async function internetRow(
  measured: Measured,
  row: (subject: string, target: string, worked: Worked) => Row,
): Promise<Row> {
  const subject = 'create → first result of exec, with network `internet`'
  const { runtimes } = await measured.client.call(listRuntimes, {})
  if (!runtimes[0]?.networks.includes('internet'))
    return plainRow(subject, `not measured: ${runtimes[0]?.network_detail ?? 'no runtime'}`, '–')
  return row(subject, '–', await createToFirstExec(measured, tries(40), { network: 'internet', settle: true }))
}

async function burstRow(measured: Measured): Promise<Row> {
  const count = quick ? 10 : 100
  const mine = await burst(measured, count)
  const [peer = Number.NaN] = await measurePeer('burst', count)
  return {
    subject: `a burst of ${count} creates, all executed`,
    steward: milliseconds(mine.lastMs),
    processor: milliseconds(mine.eachProcessorMs),
    peer: `${milliseconds(peer)} (bwrap and nsenter by hand)`,
    ratio: mine.lastMs / peer,
    target: 'all executed',
  }
}

async function* terminalRows(client: StewardClient, id: SandboxId): AsyncGenerator<Row> {
  const screen = {
    mine: await writeToScreen(client, id, tries(300)),
    peer: await measurePeer('tmux', tries(300), temporaryFolder('tmux')),
    peerName: 'tmux send-keys, capture-pane',
  }
  yield timeRow('write → on the screen by REST', '≤ 4 ms', { ...screen, percent: 50 })
  yield timeRow('write → on the screen by REST', '≤ 8 ms', { ...screen, percent: 95 })

  const peerName = 'raw node-pty'
  const idleEcho = await echoOnStream(client, id, tries(500))
  yield timeRow('echo on the stream', '≤ 5 ms', {
    mine: idleEcho,
    peer: await echoOfRawPty(tries(500)),
    peerName,
    percent: 95,
  })
  const idleCalls = await otherCalls(client, tries(1000))
  const loud = await withFloods(client, id, async () => ({
    echo: await echoOnStream(client, id, tries(300)),
    calls: await otherCalls(client, tries(1000)),
  }))
  yield timeRow('echo on the stream while 4 others flood', '≤ 20 ms', {
    mine: loud.echo,
    peer: await withRawFloods(() => echoOfRawPty(tries(300))),
    peerName,
    percent: 95,
  })
  yield timeRow('other calls while 4 terminals flood', '≤ 20 ms', {
    mine: loud.calls,
    peer: idleCalls,
    peerName: 'the same, idle',
    percent: 99,
  })
}

async function* throughputRows(measured: Measured, id: SandboxId): AsyncGenerator<Row> {
  const mine = await streamThroughput(measured, id)
  const raw = await rawThroughput(flood)
  yield {
    subject: 'output to the stream',
    steward: `${mine.megabytesPerSecond.toFixed(0)} MB/s`,
    processor: `${mine.processorMsPerMegabyte.toFixed(1)} ms per MB`,
    peer: `${raw.toFixed(0)} MB/s (raw node-pty)`,
    ratio: mine.megabytesPerSecond / raw,
    target: '≥ 0.7×, ≤ 18 ms per MB',
  }
}

function plainRow(subject: string, steward: string, target: string): Row {
  return { subject, steward, peer: '–', ratio: undefined, target }
}
