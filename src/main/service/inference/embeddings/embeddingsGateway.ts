import type { AppError } from '#shared/appError.ts'
import { computeMaxModelCost, computeModelCost, isFreeModel } from '#shared/modelCost.ts'
import type { InferenceReservation } from '../billing/inferenceCredits.ts'
import type { HoldPlan } from '../billing/reservationPlan.ts'
import { reserve } from '../billing/reserve.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import { requireModelKind } from '../catalogue/modelKind.ts'
import type { GatewayDependencies } from '../gateway.ts'
import { createUnknownModelError, InferenceError } from '../inferenceError.ts'
import { getCount, getObject, type JsonObject, omitUndefined } from '../json.ts'
import { filterFields } from '../passthrough/fieldShape.ts'
import { createCredentialHeaders } from '../providers/credentialHeaders.ts'
import type { Provider } from '../providers/provider.ts'
import { createKeyScrubber, createNotConfiguredError, readJsonReply, scrubError } from '../providers/providerReply.ts'
import { readErrorText } from '../providers/upstreamPools.ts'
import { createCompletionMeter, defaultDurationMs, defaultQuietMs } from '../streaming/completionLimits.ts'
import { toUpstreamError } from '../upstreams/upstreamFailure.ts'
import { createWarningHeaders } from '../warningHeaders.ts'
import { type EmbeddingsAnswer, readVectors } from './embeddingsAnswer.ts'
import {
  assertEmbeddable,
  type EmbeddingsRequest,
  embeddingsFields,
  estimateEmbeddingTokens,
  getMaxEmbeddingTokens,
  getProviderEncoding,
  readEmbeddingsRequest,
} from './embeddingsRequest.ts'

type Dependencies<Caller> = Pick<
  GatewayDependencies<Caller>,
  'modelNamed' | 'findProvider' | 'credits' | 'pools' | 'leases' | 'now' | 'runningMs' | 'answerTimes'
>
type Call<Caller> = { body: JsonObject; caller: Caller; signal: AbortSignal; abort: (error: AppError) => void }
type Work = {
  request: EmbeddingsRequest
  model: CatalogueModel
  passable: JsonObject
  reservation: InferenceReservation
}

export type EmbeddingsGateway<Caller> = (
  call: Call<Caller>,
) => Promise<{ headers: Readonly<Record<string, string>>; body: EmbeddingsAnswer }>

/** Creates the gateway for embeddings. Each request is charged. */
export function createEmbeddingsGateway<Caller>(dependencies: Dependencies<Caller>): EmbeddingsGateway<Caller> {
  /** @throws InferenceError, or the AppError of a rejected reservation */
  return async ({ body, caller, signal, abort }) => {
    const request = readEmbeddingsRequest(body)
    const { body: passable, removed: removedFields } = filterFields(body, embeddingsFields)
    const model = dependencies.modelNamed(request.model)
    if (!model) throw createUnknownModelError(request.model)
    requireModelKind(model, 'embedding')
    assertEmbeddable(model, request)
    const { provider, reservation } = await reserve(dependencies, { model, abort }, () =>
      dependencies.credits.reserve({
        caller,
        model: model.name,
        free: isFreeModel(model.tiers),
        plan: (available) => planHold(model, request, available),
      }),
    )
    try {
      if (!provider) throw createNotConfiguredError(model)
      signal.throwIfAborted() // nothing was sent, so nothing is charged
      const embedded = await embed({ request, model, passable, reservation }, provider, signal)
      return { headers: createWarningHeaders(removedFields), body: embedded }
    } finally {
      // Has no effect after settlement.
      await reservation.release()
    }
  }

  async function embed(work: Work, provider: Provider, signal: AbortSignal): Promise<EmbeddingsAnswer> {
    const { model, request } = work
    try {
      const answer = await ask(work, provider, signal)
      const count = getCount(getObject(answer, 'usage'), 'prompt_tokens')
      // A count above the context window is wrong.
      const isPlausible = count !== undefined && count > 0 && count <= request.inputs.length * model.contextWindow
      const tokens = isPlausible ? count : undefined
      const data = await readPaidVectors(work, answer, tokens)
      return { object: 'list', data, model: model.name, usage: await settle(work, tokens) }
    } catch (error) {
      const isWorkDone = error instanceof InferenceError && error.reason === 'overlong'
      if (signal.aborted || isWorkDone) await settle(work, undefined)
      throw error instanceof InferenceError ? scrubError(error, provider) : error
    }
  }

  async function ask({ model, request, passable }: Work, provider: Provider, signal: AbortSignal): Promise<JsonObject> {
    const body = omitUndefined({
      model: model.upstreamId,
      input: passable.input,
      encoding_format: getProviderEncoding(model),
      dimensions: request.dimensions,
      user: model.quirks.embeddings?.takesUser ? (passable.user ?? undefined) : undefined,
    })
    const reply = await dependencies.pools.send({
      url: `${provider.baseUrl.replace(/\/+$/, '')}/embeddings`,
      headers: createCredentialHeaders(model, provider.apiKey),
      body: JSON.stringify(body),
      signal,
    })
    const { status, headers } = reply
    if (status < 200 || status >= 300) {
      throw toUpstreamError({ status, body: await readErrorText(reply.body), retryAfter: headers['retry-after'] })
    }
    const limits = { maxQuietMs: defaultQuietMs, maxDurationMs: defaultDurationMs, ...dependencies.answerTimes }
    return await readJsonReply(reply, {
      scrubText: createKeyScrubber(provider),
      meter: createCompletionMeter(
        { ...limits, maxChars: Number.POSITIVE_INFINITY },
        dependencies.runningMs ?? dependencies.now,
      ),
    })
  }
}

/** Charges the provider's count even if the response is unusable. */
async function readPaidVectors(
  work: Work,
  answer: JsonObject,
  tokens: number | undefined,
): Promise<EmbeddingsAnswer['data']> {
  try {
    return readVectors(answer, work.request)
  } catch (error) {
    if (tokens !== undefined) await settle(work, tokens)
    throw error
  }
}

async function settle(
  { model, request, reservation }: Work,
  tokens: number | undefined,
): Promise<EmbeddingsAnswer['usage']> {
  const estimated = tokens === undefined
  const input = tokens ?? (await estimateEmbeddingTokens(request.inputs))
  const usage = { input, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 }
  const { priceVersion } = model
  const amountMicroUsd = computeModelCost(model.tiers, usage)
  const charged = await reservation.settle({ amountMicroUsd, priceVersion, usage, estimated })
  const cost = { micro_usd: charged, currency: 'USD' as const, price_version: priceVersion, estimated }
  return { prompt_tokens: input, total_tokens: input, cost }
}

/** @returns undefined if the credits do not cover the input */
function planHold(
  model: CatalogueModel,
  { inputs }: EmbeddingsRequest,
  availableMicroUsd: number,
): HoldPlan | undefined {
  const max = { input: getMaxEmbeddingTokens(inputs), output: 0, cache: undefined }
  const amountMicroUsd = computeMaxModelCost(model.tiers, max)
  return amountMicroUsd > availableMicroUsd && !isFreeModel(model.tiers)
    ? undefined
    : { amountMicroUsd, maxOutputTokens: 0 }
}
