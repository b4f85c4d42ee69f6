import type { AppError } from '#shared/appError.ts'
import { isFreeModel } from '#shared/modelCost.ts'
import type { InferenceCredits, InferenceReservation } from './billing/inferenceCredits.ts'
import { defaultOutputTokens, findRequestedTtl, planHold } from './billing/reservationPlan.ts'
import { reserve } from './billing/reserve.ts'
import { settleWithoutOutput } from './billing/settlement.ts'
import { getMaxInputTokens } from './billing/tokenEstimate.ts'
import { estimateInput } from './billing/usageEstimate.ts'
import { findCacheMark, withCacheMarks } from './canonical/cacheMarks.ts'
import { checkCallResults } from './canonical/callResults.ts'
import { type ImageFetcher, withFetchedImages, withUnfetchedImages } from './canonical/fetchedImages.ts'
import { sanitizeToolNames } from './canonical/toolNames.ts'
import type { CatalogueModel } from './catalogue/catalogueModel.ts'
import { requireModelKind } from './catalogue/modelKind.ts'
import type { Dialect, ResponseMeta } from './dialects/dialect.ts'
import { createGatewayResponses, type GatewayResponse, type GatewayResponseOptions } from './gatewayResponses.ts'
import { createUnknownModelError, InferenceError } from './inferenceError.ts'
import type { JsonObject } from './json.ts'
import { filterFields } from './passthrough/fieldShape.ts'
import { filterBetas } from './passthrough/messagesFields.ts'
import { messagesPassthrough } from './passthrough/messagesPassthrough.ts'
import type { Provider } from './providers/provider.ts'
import type { ProviderLeases } from './providers/providerLeases.ts'
import { createNotConfiguredError, scrubError } from './providers/providerReply.ts'
import { createProviderRequests, type Draft, type Job } from './providers/providerRequests.ts'
import type { UpstreamPools } from './providers/upstreamPools.ts'

export type GatewayDependencies<Caller> = GatewayResponseOptions & {
  modelNamed: (name: string) => CatalogueModel | undefined
  /** @returns undefined if no key is configured */
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
  /** Aborts when the client disconnects or the request is aborted. The upstream request is then aborted too. */
  signal: AbortSignal
  /** Aborts the request. The signal's reason is then the error. */
  abort: (error: AppError) => void
  /** Value of `anthropic-beta`, which is forwarded with passthrough Messages. */
  betas?: string | undefined
  onOutput?: ResponseMeta['onOutput']
}

/** Creates the gateway that handles requests of all dialects with models of all families. Each request is charged. */
export function createGateway<Caller>(dependencies: GatewayDependencies<Caller>) {
  const { routeTo, createDraft, send } = createProviderRequests(dependencies.pools)
  const answerReply = createGatewayResponses(dependencies)

  /** @throws InferenceError, or the AppError of a rejected reservation, before any response is sent */
  async function answer(call: GatewayRequest<Caller>): Promise<GatewayResponse> {
    const { dialect, body, caller, signal, abort, betas, onOutput } = call
    const request = dialect.read(body)
    const { body: passable, removed: leftOut } = filterFields(body, dialect.fields)
    const model = dependencies.modelNamed(request.model)
    if (!model) throw createUnknownModelError(request.model)
    requireModelKind(model, 'chat')
    // Passthrough requests retain the caller's cache marks.
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
    // Rejects invalid requests before credits are held.
    const draft = createDraft(job, {
      fetched: model.quirks.takesImageUrls ? job.request : withUnfetchedImages(job.request),
      maxOutputTokens: Math.min(requestedTokens ?? defaultOutputTokens, model.maxOutputTokens),
    })
    const input = Math.max(getMaxInputTokens(read), draft.maxInput)
    const cache = draft.route.raw === messagesPassthrough ? findCacheMark(passable) : findRequestedTtl(read)
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

  async function sendRequest(job: Job, { provider, reservation, draft }: SendInput): Promise<GatewayResponse> {
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
      if (job.signal.aborted) await settleWithoutOutput({ model: job.model, reservation, fetched })
      throw error instanceof InferenceError ? scrubError(error, provider) : error
    }
  }

  return { answer }
}

type SendInput = { provider: Provider; reservation: InferenceReservation; draft: Draft }
