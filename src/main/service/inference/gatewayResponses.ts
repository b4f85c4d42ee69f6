import { type Purchase, settleComplete, settleFailed, settlePartial } from './billing/settlement.ts'
import { collectCompletion } from './canonical/answer.ts'
import type { ResponseMeta } from './dialects/dialect.ts'
import type { InferenceError } from './inferenceError.ts'
import type { JsonObject } from './json.ts'
import type { Provider } from './providers/provider.ts'
import { createKeyScrubber, readJsonReply, scrubError } from './providers/providerReply.ts'
import type { Draft, Job } from './providers/providerRequests.ts'
import { createBrokenResponseError } from './providers/upstreamPools.ts'
import type { UpstreamReply } from './providers/upstreamRequest.ts'
import {
  type CompletionLimits,
  createCompletionMeter,
  defaultDurationMs,
  defaultQuietMs,
  getMaxCompletionChars,
} from './streaming/completionLimits.ts'
import { createCompletionRules } from './streaming/completionRules.ts'
import { createCompletionStream, findError } from './streaming/completionStream.ts'
import { streamFrames } from './streaming/streamFrames.ts'
import { createWarningHeaders } from './warningHeaders.ts'

export type GatewayResponse =
  | { kind: 'json'; headers: Readonly<Record<string, string>>; body: JsonObject }
  /** Frames of an event stream. Each frame is produced only after the previous ones were consumed. */
  | { kind: 'stream'; headers: Readonly<Record<string, string>>; frames: AsyncGenerator<string> }

/** Job with its reservation, in progress at a provider. */
export type PaidJob = Job & Purchase & { draft: Draft; provider: Provider; inputTokens: Promise<number> | undefined }

export type GatewayResponseOptions = {
  /** Returns random hexadecimal digits. */
  newId: () => string
  now: () => number
  /** Clock for duration limits. Default: `now`. */
  runningMs?: () => number
  /** Overrides of the defaults. */
  answerTimes?: Pick<CompletionLimits, 'maxQuietMs' | 'maxDurationMs'>
  /** Called with errors that no caller awaits: a completion could not be settled after its client disconnected. */
  onFailure: (error: unknown) => void
}

/** @returns a function that reads a reply, settles the job, and responds in the caller's dialect */
export function createGatewayResponses(
  options: GatewayResponseOptions,
): (paid: PaidJob, reply: UpstreamReply) => Promise<GatewayResponse> {
  async function answerJson(paid: PaidJob, reply: UpstreamReply): Promise<GatewayResponse> {
    const { route } = paid.draft
    const body = await readJsonReply(reply, {
      scrubText: createKeyScrubber(paid.provider),
      meter: createCompletionMeter(getLimits(paid), options.runningMs ?? options.now),
    })
    const events = createCompletionRules().pass(route.upstream.readAnswer(body, { newCallId })).map(paid.restore)
    const error = findError(events)
    if (error) {
      await settleFailed(paid, events)
      throw error
    }
    const whole = collectCompletion(events)
    const bill = await settleComplete(paid, whole)
    const meta = createMeta(paid)
    const answerBody = route.raw
      ? route.raw.answer(body, whole, meta, bill)
      : paid.dialect.writeAnswer(whole, meta, bill)
    return { kind: 'json', headers: createHeaders(paid, bill.warnings), body: answerBody }
  }

  /** Collects a stream, for callers that request JSON from a model that only streams. */
  async function collectResponse(paid: PaidJob, reply: UpstreamReply): Promise<GatewayResponse> {
    const reader = paid.draft.route.upstream.streamReader({ newCallId })
    const stream = createCompletionStream({ reader, ...getReadOptions(paid), joinsTexts: true })
    let error: InferenceError | undefined
    try {
      for await (const piece of stream.read(reply.body)) {
        for (const { events } of piece) error ??= findError(events)
      }
    } catch (broken) {
      error = createBrokenResponseError(broken)
    }
    if (error) {
      if (stream.hasReceived()) await settlePartial(paid, stream.answer())
      throw error
    }
    const bill = await settleComplete(paid, stream.answer())
    const body = paid.dialect.writeAnswer(stream.answer(), createMeta(paid), bill)
    return { kind: 'json', headers: createHeaders(paid, bill.warnings), body }
  }

  async function streamResponse(paid: PaidJob, reply: UpstreamReply): Promise<GatewayResponse> {
    const { upstream, raw } = paid.draft.route
    const meta = { ...createMeta(paid), inputTokens: await paid.inputTokens }
    const relay = raw?.relay(meta)
    const reader = upstream.streamReader({ newCallId })
    const stream = createCompletionStream({ reader, ...getReadOptions(paid), joinsTexts: relay?.pushRun !== undefined })
    const frames = await streamFrames({
      purchase: paid,
      stream,
      steps: stream.read(reply.body),
      dialect: paid.dialect,
      relay,
      meta,
      signal: paid.signal,
      scrub: (error) => scrubError(error, paid.provider),
      onFailure: options.onFailure,
    })
    return { kind: 'stream', headers: createHeaders(paid, []), frames }
  }

  const getLimits = ({ reservation }: PaidJob): CompletionLimits => ({
    maxQuietMs: defaultQuietMs,
    maxDurationMs: defaultDurationMs,
    ...options.answerTimes,
    maxChars: getMaxCompletionChars(reservation.maxOutputTokens),
  })

  const getReadOptions = (paid: PaidJob) => ({
    limits: getLimits(paid),
    now: options.runningMs ?? options.now,
    scrubText: createKeyScrubber(paid.provider),
    restore: paid.restore,
  })

  const newCallId = () => `call_${options.newId()}`

  function createMeta({ dialect, body, model, onOutput }: Job): ResponseMeta {
    const prefix = { chat: 'chatcmpl-', responses: 'resp_', messages: 'msg_' }[dialect.name]
    const nowSeconds = () => Math.floor(options.now() / 1000)
    const id = prefix + options.newId()
    return { id, model: model.name, createdSeconds: nowSeconds(), nowSeconds, requestBody: body, onOutput }
  }

  return async (paid, reply) => {
    if (!paid.draft.request.stream) return await answerJson(paid, reply)
    return await (paid.request.stream ? streamResponse(paid, reply) : collectResponse(paid, reply))
  }
}

function createHeaders({ draft, reservation, request }: PaidJob, warnings: readonly string[]): Record<string, string> {
  const clamped = reservation.maxOutputTokens !== request.maxOutputTokens
  return {
    ...createWarningHeaders([...draft.request.warnings, ...warnings]),
    ...(clamped && { 'x-steward-max-tokens': String(reservation.maxOutputTokens) }),
  }
}
