import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Scope } from '#platform/program/scope.ts'
import { projectFolder } from '../../support/fixtures/testProject.ts'
import { createServiceProcess } from '../../support/processes/serviceProcess.ts'
import type { Samples } from '../figures.ts'
import { type Loaded, type LoadTarget, runLoad } from '../load/httpLoad.ts'
import { portkey } from '../peers/portkey.ts'
import { ownMs } from './processFigures.ts'

/**
 * Figures of one path to the provider: through Steward, through a peer, or direct. A stream figure is undefined if the
 * path fails on streams.
 */
export type GatewayFigures = {
  /** Measured with one client. */
  json: Samples
  firstEvent: Samples | undefined
  /** JSON responses per second with 32 clients. */
  jsonPerSecond: number
  /** Streams of 200 chunks per second with 16 clients. */
  streamsPerSecond: number | undefined
  /** Processor time of the gateway per JSON response with 32 clients, and per stream with 16. */
  jsonProcessorMs: number
  streamProcessorMs: number
}

const built = { folder: projectFolder, program: 'out/main/service.js' }
const messages = [
  { role: 'system', content: 'You are a helpful assistant.' },
  { role: 'user', content: 'What is the capital of France, and what is it known for? Answer in one paragraph.' },
]
const jsonBody = { model: 'gpt-5.2', messages, max_completion_tokens: 256 }
const streamBody = { ...jsonBody, stream: true, stream_options: { include_usage: true } }

/**
 * Measures the service as a process, with its ledger and keys, in front of a provider that responds immediately.
 * Compares it with direct requests to the provider, Portkey's gateway, and a bare proxy.
 */
export async function gatewayFigures(
  tries: (count: number) => number,
): Promise<Record<'steward' | 'direct' | 'portkey' | 'bare', GatewayFigures>> {
  const scope = new Scope()
  try {
    return await figuresWith(scope, tries)
  } finally {
    await scope.close()
  }
}

async function figuresWith(scope: Scope, tries: (count: number) => number) {
  const provider = scope.own(await listening('fastProvider.ts'), (it) => it.close())
  const families = { a: { base_url: `http://127.0.0.1:${provider.port}/v1`, api_key: 'sk-bench' } }
  const config = { inference: { families }, credits: { owner_start_cents: 100_000_000 } }
  const service = scope.own(await createServiceProcess(built, config), (it) => it.close())
  const portkeyServer = scope.own(await portkey(provider.port), (it) => it.close())
  const proxy = scope.own(await listening('bareProxy.ts', String(provider.port)), (it) => it.close())
  const path = '/v1/chat/completions'
  const own = { port: Number(new URL(service.url).port), path, headers: { authorization: `Bearer ${service.key}` } }
  const straight = { port: provider.port, path, headers: {} }
  const ways = [
    { to: own, pid: service.pid() },
    { to: straight, pid: undefined },
    { to: portkeyServer.target, pid: portkeyServer.pid },
    { to: { port: proxy.port, path, headers: {} }, pid: undefined },
  ]
  const [steward, direct, peer, bare] = await inTurns(ways, tries)
  if (!steward || !direct || !peer || !bare) throw new Error('A way was not measured.')
  return { steward, direct, portkey: peer, bare }
}

type Way = { to: Omit<LoadTarget, 'body'>; pid: number | undefined }

/**
 * Runs each measurement on all paths in turn, over several rounds, so that other load on the computer affects all
 * equally.
 */
async function inTurns(ways: readonly Way[], tries: (count: number) => number): Promise<GatewayFigures[]> {
  const samples = ways.map(() => ({
    json: [] as Loaded[],
    streams: [] as Loaded[],
    many: [] as Worked[],
    wide: [] as Worked[],
  }))
  for (const { to } of ways) {
    await runLoad({ ...to, body: jsonBody }, { clients: 16, count: tries(4_000) })
  }
  const streaming = await Promise.all(ways.map(({ to }) => canStream(to, tries(400))))
  for (let round = 0; round < rounds; round++) {
    for (const [index, { to, pid }] of ways.entries()) {
      const figures = samples[index]
      const [json, stream] = [
        { ...to, body: jsonBody },
        { ...to, body: streamBody },
      ]
      figures?.json.push(await runLoad(json, { clients: 1, count: tries(600) }))
      figures?.many.push(await measureLoad(pid, json, { clients: 32, count: tries(8_000) }))
      if (!streaming[index]) continue
      figures?.streams.push(await runLoad(stream, { clients: 1, count: tries(200) }))
      figures?.wide.push(await measureLoad(pid, stream, { clients: 16, count: tries(1_500) }))
    }
  }
  return samples.map(({ json, streams, many, wide }) => ({
    json: json.flatMap(({ whole }) => whole),
    firstEvent: streams.length === 0 ? undefined : streams.flatMap(({ begun }) => begun),
    jsonPerSecond: best(many.map(({ perSecond }) => perSecond)),
    streamsPerSecond: wide.length === 0 ? undefined : best(wide.map(({ perSecond }) => perSecond)),
    jsonProcessorMs: Math.min(...many.map(({ processorMs }) => processorMs)),
    streamProcessorMs: Math.min(...wide.map(({ processorMs }) => processorMs)),
  }))
}

async function canStream(to: Way['to'], count: number): Promise<boolean> {
  try {
    await runLoad({ ...to, body: streamBody }, { clients: 4, count })
    return true
  } catch {
    return false
  }
}

const rounds = 3
const best = (values: readonly number[]) => Math.max(...values)

type Worked = { perSecond: number; processorMs: number }

async function measureLoad(
  pid: number | undefined,
  to: LoadTarget,
  load: { clients: number; count: number },
): Promise<Worked> {
  const before = pid === undefined ? 0 : ownMs(pid)
  const { perSecond } = await runLoad(to, load)
  const processorMs = pid === undefined ? Number.NaN : ownMs(pid) - before
  return { perSecond, processorMs: processorMs / load.count }
}

/** Starts a program of `test/bench/load` that prints its port and exits when stdin ends. */
async function listening(...parts: string[]): Promise<{ port: number; close(): Promise<void> }> {
  const [program = '', ...programArguments] = parts
  const child = spawn(process.execPath, [`test/bench/load/${program}`, ...programArguments], {
    cwd: projectFolder,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const [line] = await once(child.stdout, 'data')
  return {
    port: Number(String(line)),
    async close() {
      child.stdin.end()
      await ended
    },
  }
}
