import type { AppError } from '#shared/appError.ts'
import { isFreeModel } from '#shared/modelCost.ts'
import { findCacheMark, withCacheMarks } from './cacheMarks.ts'
import { checkCallResults } from './callResults.ts'
import type { CatalogueModel } from './catalogueModel.ts'
import type { Dialect, ResponseMeta } from './dialects/dialect.ts'
import { type ImageFetcher, withFetchedImages, withUnfetchedImages } from './fetchedImages.ts'
import { type AnswerOptions, createGatewayAnswers, type GatewayAnswer } from './gatewayAnswers.ts'
import type { InferenceCredits, Reservation } from './inferenceCredits.ts'
import { createUnknownModelError, InferenceError } from './inferenceError.ts'
import type { JsonObject } from './json.ts'
import { requireModelKind } from './modelKind.ts'
import { filterFields } from './passthrough/fieldShape.ts'
import { filterBetas } from './passthrough/messagesFields.ts'
import { rawMessages } from './passthrough/rawMessages.ts'
import type { Provider } from './provider.ts'
import type { ProviderLeases } from './providerLeases.ts'
import { createNotConfiguredError, scrubFailure } from './providerReply.ts'
import { createProviderRequests, type Draft, type Job } from './providerRequests.ts'
import { defaultOutputTokens, findRequestedTtl, planHold } from './reservationPlan.ts'
import { reserve } from './reserve.ts'
import { settleUnanswered } from './settlement.ts'
import { getMaxInputTokens } from './tokenEstimate.ts'
import { sanitizeToolNames } from './toolNames.ts'
import type { UpstreamPools } from './upstreamPools.ts'
import { estimateInput } from './usageEstimate.ts'

export type GatewayDependencies<Caller> = AnswerOptions & {
  /** @returns undefined for an unknown name */
  modelNamed: (name: string) => CatalogueModel | undefined
  /** @returns undefined where no key is there */
  findProvider: (model: CatalogueModel) => Provider | undefined
  credits: InferenceCredits<Caller>
  pools: Pick<UpstreamPools, 'send'>
  leases: Pick<ProviderLeases, 'begin'>
  fetchImage: ImageFetcher
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

/** Answers requests of all dialects by models of all families, and has each of them paid for. */
export function createGateway<Caller>(dependencies: GatewayDependencies<Caller>) {
  const { routeTo, createDraft, send } = createProviderRequests(dependencies.pools)
  const answerReply = createGatewayAnswers(dependencies)

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
      const { reply, draft: final } = await send(provider, job, isFinal ? draft : createDraft(job, filled))
      return await answerReply({ ...job, reservation, fetched, draft: final, provider, inputTokens }, reply)
    } catch (error) {
      if (job.signal.aborted) await settleUnanswered({ model: job.model, reservation, fetched })
      throw error instanceof InferenceError ? scrubFailure(error, provider) : error
    }
  }

  return { answer }
}

type Sending = { provider: Provider; reservation: Reservation; draft: Draft }
