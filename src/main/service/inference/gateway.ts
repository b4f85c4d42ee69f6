import type { AppError } from '#shared/appError.ts'
import { isFreeModel } from '#shared/modelCost.ts'
import { collectCompletion } from './answer.ts'
import { answerFrames } from './answerFrames.ts'
import {
  type AnswerLimits,
  createAnswerMeter,
  defaultDurationMs,
  defaultQuietMs,
  getMaxAnswerChars,
} from './answerLimits.ts'
import { answerRules } from './answerRules.ts'
import { createAnswerStream, findError } from './answerStream.ts'
import { findCacheMark, withCacheMarks } from './cacheMarks.ts'
import { checkCallResults } from './callResults.ts'
import type { CanonicalEvent, CanonicalRequest } from './canonical.ts'
import type { CatalogueModel } from './catalogueModel.ts'
import { createCredentialHeaders } from './credentialHeaders.ts'
import type { Dialect, ResponseMeta } from './dialects/dialect.ts'
import { warnUntranslated } from './dialects/requestFields.ts'
import { modelFamilies } from './families/modelFamilies.ts'
import type { ProviderRoute } from './families/modelFamily.ts'
import { type ImageFetcher, withFetchedImages, withUnfetchedImages } from './fetchedImages.ts'
import type { InferenceCredits, Reservation } from './inferenceCredits.ts'
import { createUnknownModelError, InferenceError } from './inferenceError.ts'
import type { JsonObject } from './json.ts'
import { requireModelKind } from './modelKind.ts'
import { filterFields } from './passthrough/fieldShape.ts'
import { filterBetas } from './passthrough/messagesFields.ts'
import { rawMessages } from './passthrough/rawMessages.ts'
import type { Provider } from './provider.ts'
import type { ProviderLeases } from './providerLeases.ts'
import { createKeyScrubber, createNotConfiguredError, readJsonReply, scrubFailure } from './providerReply.ts'
import { defaultOutputTokens, findRequestedTtl, planHold } from './reservationPlan.ts'
import { reserve } from './reserve.ts'
import { type Purchase, settleCut, settleFailed, settleUnanswered, settleWhole } from './settlement.ts'
import { getMaxInputTokens } from './tokenEstimate.ts'
import { sanitizeToolNames } from './toolNames.ts'
import { createBrokenResponseError, failureText, type UpstreamPools } from './upstreamPools.ts'
import type { UpstreamReply } from './upstreamRequest.ts'
import type { UpstreamRequest } from './upstreams/upstream.ts'
import { estimateInput } from './usageEstimate.ts'
import { createWarningHeaders } from './warningHeaders.ts'

export type GatewayDependencies<Caller> = {
  /** @returns undefined for an unknown name */
  modelNamed: (name: string) => CatalogueModel | undefined
  /** @returns undefined where no key is there */
  findProvider: (model: CatalogueModel) => Provider | undefined
  credits: InferenceCredits<Caller>
  pools: Pick<UpstreamPools, 'send'>
  leases: Pick<ProviderLeases, 'begin'>
  fetchImage: ImageFetcher
  /** Returns random hexadecimal digits. */
  newId: () => string
  now: () => number
  /** For limits of duration. Default: `now`. */
  runningMs?: () => number
  /** Overrides of the defaults. */
  answerTimes?: Pick<AnswerLimits, 'maxQuietMs' | 'maxDurationMs'>
  /** Called with errors that no caller waits for: an answer could not be settled after its client disconnected. */
  onFailure: (error: unknown) => void
}

export type GatewayRequest<Caller> = {
  dialect: Dialect
  body: JsonObject
  caller: Caller
  /** Fires when the client goes away or the request is aborted: the provider is left at once. */
  signal: AbortSignal
  /** Ends the request. The signal then fires with the error as its reason. */
  abort: (error: AppError) => void
  /** Value of `anthropic-beta`, which is passed through with raw Messages. */
  betas?: string | undefined
  /** Receives the output items of a response, before its last bytes leave. */
  onOutput?: ResponseMeta['onOutput']
}

export type GatewayAnswer =
  | { kind: 'json'; headers: Readonly<Record<string, string>>; body: JsonObject }
  /** Frames of an event stream. Each is asked for when the ones before are taken. */
  | { kind: 'stream'; headers: Readonly<Record<string, string>>; frames: AsyncGenerator<string> }

/** Answers requests of all dialects by models of all families, and has each of them paid for. */
export function createGateway<Caller>(dependencies: GatewayDependencies<Caller>) {
  /** Places whose server speaks chat completions only, though OpenAI has Responses. */
  const withoutResponses = new Set<string>()

  /** @throws InferenceError, or the AppError of a refused reservation, before anything is answered */
  async function answer(call: GatewayRequest<Caller>): Promise<GatewayAnswer> {
    const { dialect, body, caller, signal, abort, betas, onOutput } = call
    const request = dialect.read(body)
    const { body: passable, removed: leftOut } = filterFields(body, dialect.fields)
    const model = dependencies.modelNamed(request.model)
    if (!model) throw createUnknownModelError(request.model)
    requireModelKind(model, 'chat')
    // Raw requests keep the caller's own cache marks.
    const read = routeTo(model, dialect).raw ? request : withCacheMarks(request, model)
    checkCallResults(read.turns)
    const names = sanitizeToolNames(read)
    const allowed = filterBetas(betas)
    const job: Job = {
      dialect,
      body,
      passable,
      removedFields: leftOut,
      model,
      request: names.request,
      restore: names.restore,
      signal,
      betas: allowed.betas,
      removedBetas: allowed.removed,
      onOutput,
    }
    const requestedTokens = read.maxOutputTokens
    // Invalid requests are rejected before any money is held.
    const draft = createDraft(job, {
      fetched: model.quirks.takesImageUrls ? job.request : withUnfetchedImages(job.request),
      maxOutputTokens: Math.min(requestedTokens ?? defaultOutputTokens, model.maxOutputTokens),
    })
    const input = Math.max(getMaxInputTokens(read), draft.maxInput)
    const cache = draft.route.raw === rawMessages ? findCacheMark(passable) : findRequestedTtl(read)
    const { provider, reservation } = await reserve(dependencies, { model, abort }, () =>
      dependencies.credits.reserve({
        caller,
        model: model.name,
        free: isFreeModel(model.tiers),
        plan: (available) => planHold(model, { input, requested: requestedTokens, cache }, available),
      }),
    )
    try {
      if (!provider) throw createNotConfiguredError(model)
      signal.throwIfAborted() // nothing was sent, so nothing is charged
      return await sendRequest(job, { provider, reservation, draft })
    } catch (error) {
      await reservation.release()
      throw error
    }
  }

  async function sendRequest(job: Job, { provider, reservation, draft }: Sending): Promise<GatewayAnswer> {
    const fetched = job.model.quirks.takesImageUrls
      ? job.request
      : await withFetchedImages(job.request, dependencies.fetchImage, job.signal)
    const filled = { fetched, maxOutputTokens: reservation.maxOutputTokens }
    const namesInput = job.dialect.name === 'messages' && job.request.stream && !draft.route.raw
    // Counts tokens while the provider responds.
    const inputTokens = namesInput ? estimateInput(fetched) : undefined
    const isFinal = draft.fetched === fetched && draft.maxOutputTokens === reservation.maxOutputTokens
    try {
      const { reply, draft: final } = await sendTo(provider, job, isFinal ? draft : createDraft(job, filled))
      const paid: Paid = { ...job, reservation, fetched, draft: final, provider, inputTokens }
      if (!final.request.stream) return await plain(paid, reply)
      return await (job.request.stream ? streamResponse(paid, reply) : collectResponse(paid, reply))
    } catch (error) {
      if (job.signal.aborted) await settleUnanswered({ model: job.model, reservation, fetched })
      throw error instanceof InferenceError ? scrubFailure(error, provider) : error
    }
  }

  async function sendTo(provider: Provider, job: Job, draft: Draft): Promise<{ reply: UpstreamReply; draft: Draft }> {
    const { route, request } = draft
    const betas = route.raw === rawMessages ? job.betas : undefined
    const reply = await dependencies.pools.send({
      url: provider.baseUrl.replace(/\/+$/, '') + request.path,
      headers: {
        ...request.headers,
        ...(betas !== undefined && { 'anthropic-beta': betas }),
        ...createCredentialHeaders(job.model, provider.apiKey),
      },
      body: draft.text,
      signal: job.signal,
    })
    if (reply.status >= 200 && reply.status < 300) return { reply, draft }
    const retryAfter = reply.headers['retry-after']
    const error = route.upstream.readFailure({
      status: reply.status,
      body: await failureText(reply.body),
      retryAfter,
    })
    const noSuchPath = (reply.status === 404 || reply.status === 405) && error.reason !== 'model_not_found'
    if (noSuchPath && request.path === '/responses') {
      withoutResponses.add(job.model.providerId)
      return await sendTo(provider, job, createDraft(job, draft))
    }
    throw error
  }

  function createDraft(job: Job, { fetched, maxOutputTokens }: Pick<Draft, 'fetched' | 'maxOutputTokens'>): Draft {
    const { model, dialect, passable, removedFields } = job
    const route = routeTo(model, dialect)
    const target = { model, maxOutputTokens }
    const warnings = route.raw
      ? [...removedFields, ...(route.raw === rawMessages ? job.removedBetas : [])]
      : [...removedFields, ...warnUntranslated(passable, dialect.translatedFields), ...fetched.warnings]
    const draft = { ...fetched, warnings }
    const request = route.raw ? route.raw.write(passable, draft, target) : route.upstream.write(draft, target)
    const text = JSON.stringify(request.body)
    // A passthrough request may have more input than its canonical form.
    const maxInput = route.raw ? Math.max(0, Buffer.byteLength(text) - imageChars(fetched)) : 0
    return { fetched, maxOutputTokens, route, request, text, maxInput }
  }

  async function plain(paid: Paid, reply: UpstreamReply): Promise<GatewayAnswer> {
    const { route } = paid.draft
    const body = await readJsonReply(reply, {
      scrubText: createKeyScrubber(paid.provider),
      meter: createAnswerMeter(getLimits(paid), dependencies.runningMs ?? dependencies.now),
    })
    const events = answerRules().pass(route.upstream.readAnswer(body, { newCallId })).map(paid.restore)
    const error = findError(events)
    if (error) {
      await settleFailed(paid, events)
      throw error
    }
    const whole = collectCompletion(events)
    const bill = await settleWhole(paid, whole)
    const meta = createMeta(paid)
    const answerBody = route.raw
      ? route.raw.answer(body, whole, meta, bill)
      : paid.dialect.writeAnswer(whole, meta, bill)
    return { kind: 'json', headers: createHeaders(paid, bill.warnings), body: answerBody }
  }

  /** For a caller that wants JSON, of a model that only streams. */
  async function collectResponse(paid: Paid, reply: UpstreamReply): Promise<GatewayAnswer> {
    const reader = paid.draft.route.upstream.streamReader({ newCallId })
    const stream = createAnswerStream({ reader, ...getReadOptions(paid), joinsTexts: true })
    let error: InferenceError | undefined
    try {
      for await (const piece of stream.read(reply.body)) {
        for (const { events } of piece) error ??= findError(events)
      }
    } catch (broken) {
      error = createBrokenResponseError(broken)
    }
    if (error) {
      if (stream.hasReceived()) await settleCut(paid, stream.answer())
      throw error
    }
    const bill = await settleWhole(paid, stream.answer())
    const body = paid.dialect.writeAnswer(stream.answer(), createMeta(paid), bill)
    return { kind: 'json', headers: createHeaders(paid, bill.warnings), body }
  }

  async function streamResponse(paid: Paid, reply: UpstreamReply): Promise<GatewayAnswer> {
    const { upstream, raw } = paid.draft.route
    const meta = { ...createMeta(paid), inputTokens: await paid.inputTokens }
    const relay = raw?.relay(meta)
    const reader = upstream.streamReader({ newCallId })
    const stream = createAnswerStream({ reader, ...getReadOptions(paid), joinsTexts: relay?.pushRun !== undefined })
    const frames = await answerFrames({
      purchase: paid,
      stream,
      steps: stream.read(reply.body),
      dialect: paid.dialect,
      relay,
      meta,
      signal: paid.signal,
      scrub: (error) => scrubFailure(error, paid.provider),
      onFailure: dependencies.onFailure,
    })
    return { kind: 'stream', headers: createHeaders(paid, []), frames }
  }

  const getLimits = ({ reservation }: Paid): AnswerLimits => ({
    maxQuietMs: defaultQuietMs,
    maxDurationMs: defaultDurationMs,
    ...dependencies.answerTimes,
    maxChars: getMaxAnswerChars(reservation.maxOutputTokens),
  })

  const getReadOptions = (paid: Paid) => ({
    limits: getLimits(paid),
    now: dependencies.runningMs ?? dependencies.now,
    scrubText: createKeyScrubber(paid.provider),
    restore: paid.restore,
  })

  function routeTo({ kind, providerId, responsesOnly }: CatalogueModel, { name }: Dialect): ProviderRoute {
    return modelFamilies[kind].route({ dialect: name, responsesOnly, lacksResponses: withoutResponses.has(providerId) })
  }

  const newCallId = () => `call_${dependencies.newId()}`

  function createMeta({ dialect, body, model, onOutput }: Job): ResponseMeta {
    const prefix = { chat: 'chatcmpl-', responses: 'resp_', messages: 'msg_' }[dialect.name]
    const nowSeconds = () => Math.floor(dependencies.now() / 1000)
    const id = prefix + dependencies.newId()
    return { id, model: model.name, createdSeconds: nowSeconds(), nowSeconds, requestBody: body, onOutput }
  }

  return { answer }
}

type Job = {
  dialect: Dialect
  body: JsonObject
  /** Body without fields that the dialect does not allow. */
  passable: JsonObject
  /** Warnings about fields removed from `passable`. */
  removedFields: readonly string[]
  model: CatalogueModel
  request: CanonicalRequest
  restore: (event: CanonicalEvent) => CanonicalEvent
  signal: AbortSignal
  betas: string | undefined
  removedBetas: readonly string[]
  onOutput: ResponseMeta['onOutput']
}
/** Request to send, with its source. */
type Draft = {
  fetched: CanonicalRequest
  maxOutputTokens: number
  route: ProviderRoute
  request: UpstreamRequest
  /** The body, as it is sent. */
  text: string
  maxInput: number
}
type Sending = { provider: Provider; reservation: Reservation; draft: Draft }
type Paid = Job & Purchase & { draft: Draft; provider: Provider; inputTokens: Promise<number> | undefined }

/** Base64 of images, whose tokens do not follow from their bytes. */
function imageChars(request: CanonicalRequest): number {
  let chars = 0
  for (const turn of request.turns) {
    if (turn.role !== 'user') continue
    for (const part of turn.parts.flatMap((it) => (it.type === 'result' ? it.parts : [it]))) {
      if (part.type === 'image' && part.source.kind === 'data') chars += part.source.base64.length
    }
  }
  return chars
}

function createHeaders({ draft, reservation, request }: Paid, warnings: readonly string[]): Record<string, string> {
  const clamped = reservation.maxOutputTokens !== request.maxOutputTokens
  return {
    ...createWarningHeaders([...draft.request.warnings, ...warnings]),
    ...(clamped && { 'x-steward-max-tokens': String(reservation.maxOutputTokens) }),
  }
}
