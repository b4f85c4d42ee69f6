import type { AppError } from '#shared/appError.ts'
import { isFreeModel } from '#shared/modelCost.ts'
import { collectedAnswer } from './answer.ts'
import { answerFrames } from './answerFrames.ts'
import {
  type AnswerLimits,
  createAnswerMeter,
  defaultDurationMs,
  defaultQuietMs,
  maxAnswerChars,
} from './answerLimits.ts'
import { answerRules } from './answerRules.ts'
import { answerStream, errorAmong } from './answerStream.ts'
import { cacheMarkIn, withCacheMarks } from './cacheMarks.ts'
import { checkCallResults } from './callResults.ts'
import type { CatalogueModel } from './catalogueModel.ts'
import { credentialHeaders } from './credentialHeaders.ts'
import type { Dialect, Told } from './dialects/dialect.ts'
import { warnUntranslated } from './dialects/requestFields.ts'
import { modelFamilies } from './families/modelFamilies.ts'
import type { ProviderRoute } from './families/modelFamily.ts'
import { type ImageFetcher, withFetchedImages, withUnfetchedImages } from './fetchedImages.ts'
import type { InferenceCredits, Reservation } from './inferenceCredits.ts'
import { InferenceError, unknownModel } from './inferenceError.ts'
import type { InnerEvent, InnerRequest } from './innerForm.ts'
import type { Loose } from './looseJson.ts'
import { requireModelKind } from './modelKind.ts'
import type { Provider } from './provider.ts'
import type { ProviderLeases } from './providerLeases.ts'
import { createKeyScrubber, notConfigured, readJsonReply, scrubFailure } from './providerReply.ts'
import { filterFields } from './raw/fieldShape.ts'
import { filterBetas } from './raw/messagesFields.ts'
import { rawMessages } from './raw/rawMessages.ts'
import { askedCache, plannedHold, usualOutputTokens } from './reservationPlan.ts'
import { reserve } from './reserve.ts'
import { type Purchase, settleCut, settleFailed, settleUnanswered, settleWhole } from './settlement.ts'
import { mostInputTokens } from './tokenEstimate.ts'
import { fittedNames } from './toolNames.ts'
import { brokenAnswer, failureText, type UpstreamPools } from './upstreamPools.ts'
import type { UpstreamReply } from './upstreamRequest.ts'
import type { UpstreamRequest } from './upstreams/upstream.ts'
import { estimatedInput } from './usageEstimate.ts'
import { warningHeaders } from './warningHeaders.ts'

export type GatewayParts<Caller> = {
  /** @returns undefined for a name that nobody knows */
  modelNamed: (name: string) => CatalogueModel | undefined
  /** @returns undefined where no key is there */
  providerOf: (model: CatalogueModel) => Provider | undefined
  credits: InferenceCredits<Caller>
  pools: Pick<UpstreamPools, 'send'>
  leases: Pick<ProviderLeases, 'begin'>
  fetchImage: ImageFetcher
  /** Of random hexadecimal digits. */
  newId: () => string
  now: () => number
  /** For limits of duration. Default: `now`. */
  runningMs?: () => number
  /** Overrides of the defaults. */
  answerTimes?: Pick<AnswerLimits, 'maxQuietMs' | 'maxDurationMs'>
  /** Of what nobody waits for: an answer that could not be settled once its client had left. */
  onFailure: (failure: unknown) => void
}

export type GatewayRequest<Caller> = {
  dialect: Dialect
  body: Loose
  caller: Caller
  /** Fires when the client goes away or the request is aborted: the provider is left at once. */
  signal: AbortSignal
  /** Ends the request. The signal then fires with the error as its reason. */
  abort: (error: AppError) => void
  /** Of the header `anthropic-beta`, which passes where Messages pass raw. */
  betas?: string | undefined
  /** Receives the output items of a response, before its last bytes leave. */
  onOutput?: Told['onOutput']
}

export type GatewayAnswer =
  | { kind: 'json'; headers: Readonly<Record<string, string>>; body: Loose }
  /** Frames of an event stream. Each is asked for when the ones before are taken. */
  | { kind: 'stream'; headers: Readonly<Record<string, string>>; frames: AsyncGenerator<string> }

/** Answers requests of all dialects by models of all families, and has each of them paid for. */
export function gateway<Caller>(parts: GatewayParts<Caller>) {
  /** Places whose server speaks chat completions only, though OpenAI has Responses. */
  const withoutResponses = new Set<string>()

  /** @throws InferenceError, or the AppError of a refused reservation, before anything is answered */
  async function answer(call: GatewayRequest<Caller>): Promise<GatewayAnswer> {
    const { dialect, body, caller, signal, abort, betas, onOutput } = call
    const asked = dialect.read(body)
    const { body: passable, leftOut } = filterFields(body, dialect.fields)
    const model = parts.modelNamed(asked.model)
    if (!model) throw unknownModel(asked.model)
    requireModelKind(model, 'chat')
    // What passes raw is the caller's own.
    const read = routeTo(model, dialect).raw ? asked : withCacheMarks(asked, model)
    checkCallResults(read.turns)
    const names = fittedNames(read)
    const allowed = filterBetas(betas)
    const job: Job = {
      dialect,
      body,
      passable,
      leftOut,
      model,
      request: names.request,
      restored: names.restored,
      signal,
      betas: allowed.betas,
      betasLeftOut: allowed.leftOut,
      onOutput,
    }
    const wanted = read.maxOutputTokens
    // What cannot be asked at all is refused before money is looked at.
    const draft = draftOf(job, {
      fetched: model.quirks.takesImageUrls ? job.request : withUnfetchedImages(job.request),
      maxOutputTokens: Math.min(wanted ?? usualOutputTokens, model.maxOutputTokens),
    })
    const input = Math.max(mostInputTokens(read), draft.mostInput)
    const cache = draft.route.raw === rawMessages ? cacheMarkIn(passable) : askedCache(read)
    const { provider, reservation } = await reserve(parts, { model, abort }, () =>
      parts.credits.reserve({
        caller,
        model: model.name,
        free: isFreeModel(model.tiers),
        plan: (available) => plannedHold(model, { input, wanted, cache }, available),
      }),
    )
    try {
      if (!provider) throw notConfigured(model)
      signal.throwIfAborted() // nothing was sent, so nothing is charged
      return await sent(job, { provider, reservation, draft })
    } catch (failure) {
      await reservation.release()
      throw failure
    }
  }

  async function sent(job: Job, { provider, reservation, draft }: Sending): Promise<GatewayAnswer> {
    const fetched = job.model.quirks.takesImageUrls
      ? job.request
      : await withFetchedImages(job.request, parts.fetchImage, job.signal)
    const filled = { fetched, maxOutputTokens: reservation.maxOutputTokens }
    const namesInput = job.dialect.name === 'messages' && job.request.stream && !draft.route.raw
    // Counts tokens while the provider responds.
    const inputTokens = namesInput ? estimatedInput(fetched) : undefined
    const isFinal = draft.fetched === fetched && draft.maxOutputTokens === reservation.maxOutputTokens
    try {
      const { reply, draft: final } = await sentTo(provider, job, isFinal ? draft : draftOf(job, filled))
      const paid: Paid = { ...job, reservation, fetched, draft: final, provider, inputTokens }
      if (!final.request.stream) return await plain(paid, reply)
      return await (job.request.stream ? streamed(paid, reply) : collected(paid, reply))
    } catch (failure) {
      if (job.signal.aborted) await settleUnanswered({ model: job.model, reservation, fetched })
      throw failure instanceof InferenceError ? scrubFailure(failure, provider) : failure
    }
  }

  async function sentTo(provider: Provider, job: Job, draft: Draft): Promise<{ reply: UpstreamReply; draft: Draft }> {
    const { route, request } = draft
    const betas = route.raw === rawMessages ? job.betas : undefined
    const reply = await parts.pools.send({
      url: provider.baseUrl.replace(/\/+$/, '') + request.path,
      headers: {
        ...request.headers,
        ...(betas !== undefined && { 'anthropic-beta': betas }),
        ...credentialHeaders(job.model, provider.apiKey),
      },
      body: draft.text,
      signal: job.signal,
    })
    if (reply.status >= 200 && reply.status < 300) return { reply, draft }
    const retryAfter = reply.headers['retry-after']
    const failure = route.upstream.readFailure({
      status: reply.status,
      body: await failureText(reply.body),
      retryAfter,
    })
    const noSuchPath = (reply.status === 404 || reply.status === 405) && failure.reason !== 'model_not_found'
    if (noSuchPath && request.path === '/responses') {
      withoutResponses.add(job.model.place)
      return await sentTo(provider, job, draftOf(job, draft))
    }
    throw failure
  }

  function draftOf(job: Job, { fetched, maxOutputTokens }: Pick<Draft, 'fetched' | 'maxOutputTokens'>): Draft {
    const { model, dialect, passable, leftOut } = job
    const route = routeTo(model, dialect)
    const target = { model, maxOutputTokens }
    const warnings = route.raw
      ? [...leftOut, ...(route.raw === rawMessages ? job.betasLeftOut : [])]
      : [...leftOut, ...warnUntranslated(passable, dialect.translatedFields), ...fetched.warnings]
    const own = { ...fetched, warnings }
    const request = route.raw ? route.raw.write(passable, own, target) : route.upstream.write(own, target)
    const text = JSON.stringify(request.body)
    // A passthrough request may have more input than its canonical form.
    const mostInput = route.raw ? Math.max(0, Buffer.byteLength(text) - imageChars(fetched)) : 0
    return { fetched, maxOutputTokens, route, request, text, mostInput }
  }

  async function plain(paid: Paid, reply: UpstreamReply): Promise<GatewayAnswer> {
    const { route } = paid.draft
    const body = await readJsonReply(reply, {
      scrubText: createKeyScrubber(paid.provider),
      meter: createAnswerMeter(limitsOf(paid), parts.runningMs ?? parts.now),
    })
    const events = answerRules().pass(route.upstream.readAnswer(body, { newCallId })).map(paid.restored)
    const error = errorAmong(events)
    if (error) {
      await settleFailed(paid, events)
      throw error
    }
    const whole = collectedAnswer(events)
    const bill = await settleWhole(paid, whole)
    const told = toldOf(paid)
    const answerBody = route.raw
      ? route.raw.answer(body, whole, told, bill)
      : paid.dialect.writeAnswer(whole, told, bill)
    return { kind: 'json', headers: headersOf(paid, bill.warnings), body: answerBody }
  }

  /** For a caller that wants JSON, of a model that only streams. */
  async function collected(paid: Paid, reply: UpstreamReply): Promise<GatewayAnswer> {
    const reader = paid.draft.route.upstream.streamReader({ newCallId })
    const stream = answerStream({ reader, ...readingOf(paid), joinsTexts: true })
    let failure: InferenceError | undefined
    try {
      for await (const piece of stream.read(reply.body)) {
        for (const { events } of piece) failure ??= errorAmong(events)
      }
    } catch (broken) {
      failure = brokenAnswer(broken)
    }
    if (failure) {
      if (stream.hasReceived()) await settleCut(paid, stream.answer())
      throw failure
    }
    const bill = await settleWhole(paid, stream.answer())
    const body = paid.dialect.writeAnswer(stream.answer(), toldOf(paid), bill)
    return { kind: 'json', headers: headersOf(paid, bill.warnings), body }
  }

  async function streamed(paid: Paid, reply: UpstreamReply): Promise<GatewayAnswer> {
    const { upstream, raw } = paid.draft.route
    const told = { ...toldOf(paid), inputTokens: await paid.inputTokens }
    const relay = raw?.relay(told)
    const reader = upstream.streamReader({ newCallId })
    const stream = answerStream({ reader, ...readingOf(paid), joinsTexts: relay?.pushRun !== undefined })
    const frames = await answerFrames({
      purchase: paid,
      stream,
      taken: stream.read(reply.body),
      dialect: paid.dialect,
      relay,
      told,
      signal: paid.signal,
      scrubbed: (failure) => scrubFailure(failure, paid.provider),
      onFailure: parts.onFailure,
    })
    return { kind: 'stream', headers: headersOf(paid, []), frames }
  }

  const limitsOf = ({ reservation }: Paid): AnswerLimits => ({
    maxQuietMs: defaultQuietMs,
    maxDurationMs: defaultDurationMs,
    ...parts.answerTimes,
    maxChars: maxAnswerChars(reservation.maxOutputTokens),
  })

  const readingOf = (paid: Paid) => ({
    limits: limitsOf(paid),
    now: parts.runningMs ?? parts.now,
    scrubText: createKeyScrubber(paid.provider),
    restored: paid.restored,
  })

  function routeTo({ kind, place, responsesOnly }: CatalogueModel, { name }: Dialect): ProviderRoute {
    return modelFamilies[kind].route({ dialect: name, responsesOnly, lacksResponses: withoutResponses.has(place) })
  }

  const newCallId = () => `call_${parts.newId()}`

  function toldOf({ dialect, body, model, onOutput }: Job): Told {
    const prefix = { chat: 'chatcmpl-', responses: 'resp_', messages: 'msg_' }[dialect.name]
    const nowSeconds = () => Math.floor(parts.now() / 1000)
    const id = prefix + parts.newId()
    return { id, model: model.name, createdSeconds: nowSeconds(), nowSeconds, asked: body, onOutput }
  }

  return { answer }
}

type Job = {
  dialect: Dialect
  body: Loose
  /** Body without fields that the dialect does not allow. */
  passable: Loose
  /** Warnings about fields removed from `passable`. */
  leftOut: readonly string[]
  model: CatalogueModel
  request: InnerRequest
  restored: (event: InnerEvent) => InnerEvent
  signal: AbortSignal
  betas: string | undefined
  betasLeftOut: readonly string[]
  onOutput: Told['onOutput']
}
/** What is sent, and what it was made of. */
type Draft = {
  fetched: InnerRequest
  maxOutputTokens: number
  route: ProviderRoute
  request: UpstreamRequest
  /** The body, as it is sent. */
  text: string
  mostInput: number
}
type Sending = { provider: Provider; reservation: Reservation; draft: Draft }
type Paid = Job & Purchase & { draft: Draft; provider: Provider; inputTokens: Promise<number> | undefined }

/** Base64 of images, whose tokens do not follow from their bytes. */
function imageChars(request: InnerRequest): number {
  let chars = 0
  for (const turn of request.turns) {
    if (turn.role !== 'user') continue
    for (const part of turn.parts.flatMap((it) => (it.type === 'result' ? it.parts : [it]))) {
      if (part.type === 'image' && part.source.kind === 'data') chars += part.source.base64.length
    }
  }
  return chars
}

function headersOf({ draft, reservation, request }: Paid, found: readonly string[]): Record<string, string> {
  const clamped = reservation.maxOutputTokens !== request.maxOutputTokens
  return {
    ...warningHeaders([...draft.request.warnings, ...found]),
    ...(clamped && { 'x-steward-max-tokens': String(reservation.maxOutputTokens) }),
  }
}
