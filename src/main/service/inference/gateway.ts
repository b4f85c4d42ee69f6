import { collectedAnswer, type InnerAnswer } from './answer.ts'
import { answerRules } from './answerRules.ts'
import { answerStream, errorAmong, finishIn, malformedCalls, type Taken } from './answerStream.ts'
import { checkCallResults } from './callResults.ts'
import type { Bill, Dialect, Told } from './dialects/dialect.ts'
import { type ImageFetcher, withFetchedImages, withUnfetchedImages } from './fetchedImages.ts'
import { costOf, isFree } from './inferenceCost.ts'
import type { InferenceCredits, Reservation } from './inferenceCredits.ts'
import { InferenceError } from './inferenceError.ts'
import { type InnerEvent, type InnerRequest, inputOf } from './innerForm.ts'
import { type Loose, parsedObject } from './looseJson.ts'
import type { CatalogueModel } from './modelCatalogue.ts'
import { chatRoute, credentialHeaders, type ProviderRoute, providerRoute } from './providerRoute.ts'
import { rawMessages } from './raw/rawMessages.ts'
import { askedCache, plannedHold, usualOutputTokens } from './reservationPlan.ts'
import { mostInputTokens } from './tokenEstimate.ts'
import { fittedNames } from './toolNames.ts'
import { brokenAnswer, failureText, type UpstreamPools, type UpstreamReply } from './upstreamPools.ts'
import { takesImageUrls } from './upstreams/openAiRequest.ts'
import type { UpstreamRequest } from './upstreams/upstream.ts'
import { estimatedUsage } from './usageEstimate.ts'

/** Where a provider answers, and the key for it. Held in memory only. */
export type Provider = { baseUrl: string; apiKey: string | undefined }

export type GatewayParts<Caller> = {
  /** @returns undefined for a name that nobody knows */
  modelNamed: (name: string) => CatalogueModel | undefined
  /** @returns undefined where no key is there */
  providerOf: (model: CatalogueModel) => Provider | undefined
  credits: InferenceCredits<Caller>
  pools: Pick<UpstreamPools, 'send'>
  fetchImage: ImageFetcher
  /** Of random hexadecimal digits. */
  newId: () => string
  now: () => number
  /** Of what nobody waits for: an answer that could not be settled once its client had left. */
  onFailure: (failure: unknown) => void
}

export type GatewayRequest<Caller> = {
  dialect: Dialect
  body: Loose
  caller: Caller
  /** Fires when the client goes away: the provider is left at once. */
  signal: AbortSignal
  /** Of the header `anthropic-beta`, which passes where Messages pass raw. */
  betas?: string | undefined
}

export type GatewayAnswer =
  | { kind: 'json'; headers: Readonly<Record<string, string>>; body: Loose }
  /** Frames of an event stream. Each is asked for when the ones before are taken. */
  | { kind: 'stream'; headers: Readonly<Record<string, string>>; frames: AsyncGenerator<string> }

const maxAnswerBytes = 64 * 1024 * 1024

/** Answers requests of all dialects by models of all families, and has each of them paid for. */
export function gateway<Caller>(parts: GatewayParts<Caller>) {
  /** Places whose server speaks chat completions only, though OpenAI has Responses. */
  const withoutResponses = new Set<string>()

  /** @throws InferenceError, or the AppError of a refused reservation, before anything is answered */
  async function answer({ dialect, body, caller, signal, betas }: GatewayRequest<Caller>): Promise<GatewayAnswer> {
    const read = dialect.read(body)
    const model = parts.modelNamed(read.model)
    if (!model) throw unknownModel(read.model)
    checkCallResults(read.turns)
    const names = fittedNames(read)
    const job: Job = { dialect, body, model, request: names.request, restored: names.restored, signal, betas }
    const wanted = read.maxOutputTokens
    // What cannot be asked at all is refused before money is looked at.
    const draft = draftOf(job, {
      fetched: takesImageUrls(model.kind) ? job.request : withUnfetchedImages(job.request),
      maxOutputTokens: Math.min(wanted ?? usualOutputTokens, model.maxOutputTokens),
    })
    const input = Math.max(mostInputTokens(read), draft.mostInput)
    const reserved = await parts.credits.reserve({
      caller,
      model: model.name,
      free: isFree(model),
      plan: (available) => plannedHold(model, { input, wanted, cache: askedCache(read) }, available),
    })
    const reservation = endedOnce(reserved)
    try {
      return await asked(job, reservation, draft)
    } catch (failure) {
      await reservation.release()
      throw failure
    }
  }

  async function asked(job: Job, reservation: Reservation, draft: Draft): Promise<GatewayAnswer> {
    const provider = parts.providerOf(job.model)
    if (!provider) throw unconfigured(job.model)
    const fetched = takesImageUrls(job.model.kind)
      ? job.request
      : await withFetchedImages(job.request, parts.fetchImage, job.signal)
    const filled = { fetched, maxOutputTokens: reservation.maxOutputTokens }
    const isFinal = draft.fetched === fetched && draft.maxOutputTokens === reservation.maxOutputTokens
    const { reply, draft: sent } = await sentTo(provider, job, isFinal ? draft : draftOf(job, filled)).catch(
      async (failure: unknown) => {
        // The provider may have read all of it by now.
        if (job.signal.aborted) await settled({ ...job, reservation, draft }, nothingAnswered, { cut: true })
        throw failure
      },
    )
    const paid: Paid = { ...job, reservation, draft: sent }
    if (sent.request.stream) return await (job.request.stream ? streamed(paid, reply) : collected(paid, reply))
    return await plain(paid, reply)
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
    const noSuchPath = (reply.status === 404 || reply.status === 405) && failure.code !== 'model_not_found'
    if (noSuchPath && request.path === '/responses') {
      withoutResponses.add(job.model.place)
      return await sentTo(provider, job, draftOf(job, draft))
    }
    throw scrubbed(failure, provider)
  }

  function draftOf(job: Job, { fetched, maxOutputTokens }: Pick<Draft, 'fetched' | 'maxOutputTokens'>): Draft {
    const { model, dialect, body } = job
    const route = withoutResponses.has(model.place)
      ? chatRoute(model, dialect.name)
      : providerRoute(model, dialect.name)
    const target = { model, maxOutputTokens }
    const request = route.raw ? route.raw.write(body, fetched, target) : route.upstream.write(fetched, target)
    const text = JSON.stringify(request.body)
    // What passes raw may hold more than the inner form knows of.
    const mostInput = route.raw ? Math.max(0, Buffer.byteLength(text) - imageChars(fetched)) : 0
    return { fetched, maxOutputTokens, route, request, text, mostInput }
  }

  async function plain(paid: Paid, reply: UpstreamReply): Promise<GatewayAnswer> {
    const { dialect, restored } = paid
    const { route } = paid.draft
    const body = await jsonOf(reply)
    const events = answerRules().pass(route.upstream.readAnswer(body, { newCallId })).map(restored)
    const error = errorAmong(events)
    if (error) {
      await settleFailed(paid, events)
      throw error
    }
    const whole = collectedAnswer(events)
    const bill = await settled(paid, whole, { cut: false })
    const told = toldOf(paid)
    const answerBody = route.raw ? route.raw.answer(body, whole, told, bill) : dialect.writeAnswer(whole, told, bill)
    return { kind: 'json', headers: headersOf(paid, bill.warnings), body: answerBody }
  }

  /** For a caller that wants JSON, of a model that only streams. */
  async function collected(paid: Paid, reply: UpstreamReply): Promise<GatewayAnswer> {
    const stream = answerStream(paid.draft.route.upstream.streamReader({ newCallId }), paid.restored)
    let failure: InferenceError | undefined
    try {
      for await (const { events } of stream.read(reply.body)) failure ??= errorAmong(events)
    } catch (broken) {
      failure = brokenAnswer(broken)
    }
    if (failure) {
      if (stream.received) await settled(paid, stream.answer(), { cut: true })
      else await paid.reservation.release()
      throw failure
    }
    const bill = await settled(paid, stream.answer(), { cut: false })
    const body = paid.dialect.writeAnswer(stream.answer(), toldOf(paid), bill)
    return { kind: 'json', headers: headersOf(paid, bill.warnings), body }
  }

  /** What fails before the first event has a status of its own. */
  async function streamed(paid: Paid, reply: UpstreamReply): Promise<GatewayAnswer> {
    const stream = answerStream(paid.draft.route.upstream.streamReader({ newCallId }), paid.restored)
    const taken = stream.read(reply.body)
    const first = await taken.next().catch((failure: unknown) => {
      throw brokenAnswer(failure)
    })
    const failure = first.done ? undefined : errorAmong(first.value.events)
    if (failure) {
      await settleFailed(paid, first.value?.events ?? [])
      await taken.return(undefined)
      throw failure
    }
    // A client may leave before it takes the first frame.
    const left = () => void settled(paid, stream.answer(), { cut: true }).catch(parts.onFailure)
    paid.signal.addEventListener('abort', left, { once: true })
    return { kind: 'stream', headers: headersOf(paid, []), frames: framesOf(paid, stream, resumed(first, taken)) }
  }

  async function* framesOf(
    paid: Paid,
    stream: ReturnType<typeof answerStream>,
    taken: AsyncGenerator<Taken>,
  ): AsyncGenerator<string> {
    const told = toldOf(paid)
    const writer = paid.dialect.streamWriter(told)
    const relay = paid.draft.route.raw?.relay(told)
    let open = true
    try {
      for await (const { sse, events } of taken) {
        const error = errorAmong(events)
        if (error) {
          open = false
          await settled(paid, stream.answer(), { cut: true })
          yield writer.fail(error)
          return
        }
        let frames = relay && sse ? relay.push(sse) : ''
        if (!relay) for (const event of events) if (isContent(event)) frames += writer.write(event)
        const finish = finishIn(events)
        if (finish) {
          open = false
          const bill = await settled(paid, stream.answer(), { cut: false })
          frames += relay ? relay.finish(finish, bill) : writer.finish(finish, bill)
        }
        if (frames !== '') yield frames
      }
    } catch (failure) {
      if (paid.signal.aborted) return
      const error = brokenAnswer(failure)
      if (open) await settled(paid, stream.answer(), { cut: true })
      open = false
      yield writer.fail(error)
    } finally {
      // The client left, or nobody reads on: the provider was left too, and what came is paid.
      if (open) await settled(paid, stream.answer(), { cut: true })
    }
  }

  async function settled(paid: Paid, whole: InnerAnswer, { cut }: { cut: boolean }): Promise<Bill> {
    const { model, reservation } = paid
    const told = whole.usage
    // 0 for everything is what some providers send before they count.
    const complete = told !== undefined && !cut && inputOf(told) + told.output > 0
    const usage = complete ? told : await estimatedUsage(paid.draft.fetched, whole)
    const amountMicroUsd = costOf(model, usage)
    await reservation.settle({ amountMicroUsd, priceVersion: model.priceVersion, usage, estimated: !complete })
    const cost = {
      micro_usd: amountMicroUsd,
      currency: 'USD' as const,
      price_version: model.priceVersion,
      estimated: !complete,
    }
    return { usage, cost, warnings: malformedCalls(whole.parts) }
  }

  /** An error in the place of an answer: only what the provider counted is paid. */
  async function settleFailed(paid: Paid, events: readonly InnerEvent[]): Promise<void> {
    const usage = events.findLast((event) => event.type === 'usage')?.usage
    if (!usage || inputOf(usage) + usage.output === 0) return await paid.reservation.release()
    const amountMicroUsd = costOf(paid.model, usage)
    await paid.reservation.settle({ amountMicroUsd, priceVersion: paid.model.priceVersion, usage, estimated: false })
  }

  const newCallId = () => `call_${parts.newId()}`

  function toldOf({ dialect, body, model }: Job): Told {
    const prefix = { chat: 'chatcmpl-', responses: 'resp_', messages: 'msg_' }[dialect.name]
    const createdSeconds = Math.floor(parts.now() / 1000)
    return { id: prefix + parts.newId(), model: model.name, createdSeconds, asked: body }
  }

  return { answer }
}

type Job = {
  dialect: Dialect
  body: Loose
  model: CatalogueModel
  request: InnerRequest
  restored: (event: InnerEvent) => InnerEvent
  signal: AbortSignal
  betas: string | undefined
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
type Paid = Job & { reservation: Reservation; draft: Draft }

/** Whatever ends it first counts: a stream may be left, cut and finished at once. */
function endedOnce(reservation: Reservation): Reservation {
  let ended: Promise<void> | undefined
  const once = (end: () => Promise<void> | void) => {
    ended ??= Promise.resolve(end())
    return ended
  }
  return {
    maxOutputTokens: reservation.maxOutputTokens,
    settle: (charge) => once(() => reservation.settle(charge)),
    release: () => once(() => reservation.release()),
  }
}

const nothingAnswered: InnerAnswer = {
  id: undefined,
  parts: [],
  usage: undefined,
  reason: 'stop',
  native: undefined,
  stopSequence: undefined,
}

async function* resumed(first: IteratorResult<Taken>, rest: AsyncGenerator<Taken>): AsyncGenerator<Taken> {
  try {
    if (first.done) return
    yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

function isContent(event: InnerEvent): event is Exclude<InnerEvent, { type: 'finish' | 'error' }> {
  return event.type !== 'finish' && event.type !== 'error'
}

async function jsonOf({ body }: UpstreamReply): Promise<Loose> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const piece of body) {
      bytes += piece.length
      if (bytes > maxAnswerBytes) throw new InferenceError('upstream', 'The answer of the provider is too large.')
      pieces.push(piece)
    }
  } catch (failure) {
    throw brokenAnswer(failure)
  }
  const parsed = parsedObject(Buffer.concat(pieces).toString('utf8'))
  if (parsed) return parsed
  throw new InferenceError('upstream', 'The provider sent an answer that is no JSON object.', { code: 'unusable' })
}

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

const maxWarningChars = 2_000

function headersOf({ draft, reservation, request }: Paid, found: readonly string[]): Record<string, string> {
  const warnings = [...new Set([...draft.request.warnings, ...found])].join('; ')
  const clamped = reservation.maxOutputTokens !== request.maxOutputTokens
  return {
    ...(warnings !== '' && { 'x-steward-warnings': warnings.replace(/[^\x20-\x7e]/g, '?').slice(0, maxWarningChars) }),
    ...(clamped && { 'x-steward-max-tokens': String(reservation.maxOutputTokens) }),
  }
}

function unknownModel(name: string): InferenceError {
  const message = `The model ${JSON.stringify(name.slice(0, 128))} does not exist. GET /v1/models lists those that do.`
  return new InferenceError('model', message, { code: 'model_not_found', param: 'model' })
}

function unconfigured(model: CatalogueModel): InferenceError {
  const message = `The provider of ${model.name} is not configured: Steward has no key for it.`
  return new InferenceError('unconfigured', message, { code: 'provider_not_configured' })
}

/** Providers repeat keys in their sentences. */
function scrubbed(failure: InferenceError, { apiKey }: Provider): InferenceError {
  if (!apiKey || !failure.message.includes(apiKey)) return failure
  const { kind, code, param, detail, retryAfter, status } = failure
  return new InferenceError(kind, failure.message.replaceAll(apiKey, '…'), { code, param, detail, retryAfter, status })
}
