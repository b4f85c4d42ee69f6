import { z } from 'zod'
import { createHttpClient, ResponseTooLargeError } from '#platform/http/httpClient.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { ModelPrice, maxServedModels, servedModelName } from '#shared/contract/providers.ts'

export type ProbedModels = {
  kind: 'models'
  models: string[]
  /** Prices by model, if the list contains them. */
  prices: Record<string, ModelPrice>
}

/** Result of a probe. For `nothing`, the reason is a phrase that follows the server's name. */
export type ProbeResult = ProbedModels | { kind: 'needs-key' } | { kind: 'nothing'; why: string }

export type ModelServerProbe = {
  probe(baseUrl: string, options: { key?: string | undefined; withinMs: number }): Promise<ProbeResult>
  close(): void
}

const maxAnswerBytes = 1024 * 1024
const ModelList = z.object({ data: z.array(z.object({ id: z.string(), pricing: z.unknown().optional() })).max(10_000) })

/**
 * Reads the model list of a server. Responses are untrusted: their text is never repeated, redirects are not followed,
 * and invalid model names are ignored.
 */
export function createModelServerProbe(): ModelServerProbe {
  const client = createHttpClient({ maxAnswerBytes })
  return {
    async probe(baseUrl, { key, withinMs }) {
      const signal = AbortSignal.timeout(withinMs)
      const headers = { accept: 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) }
      try {
        const { status, text } = await client.ask(`${baseUrl}/models`, { method: 'GET', headers, signal })
        if (status === 401 || status === 403) return { kind: 'needs-key' }
        if (status >= 300 && status < 400)
          return { kind: 'nothing', why: 'responds with a redirect, which Steward does not follow' }
        if (status !== 200)
          return { kind: 'nothing', why: `responds with status ${status} instead of a list of models` }
        return parseModels(text)
      } catch (error) {
        if (signal.aborted) return { kind: 'nothing', why: `does not respond within ${withinMs / 1000} s` }
        const isLarge = error instanceof ResponseTooLargeError
        return { kind: 'nothing', why: isLarge ? 'responds with more than a list of models' : 'cannot be reached' }
      }
    },
    close: client.close,
  }
}

function parseModels(text: string): ProbeResult {
  const list = ModelList.safeParse(parseJsonOrUndefined(text))
  if (!list.success) return { kind: 'nothing', why: 'does not respond with a list of models' }
  const listed = list.data.data.filter(({ id }) => servedModelName.test(id))
  const models = [...new Set(listed.map(({ id }) => id))].slice(0, maxServedModels)
  const prices = listed.flatMap(({ id, pricing }) => {
    const price = models.includes(id) ? parsePrice(pricing) : undefined
    return price ? [[id, price] as const] : []
  })
  return { kind: 'models', models, prices: Object.fromEntries(prices) }
}

/** US dollars per token, as text. @see https://openrouter.ai/docs/api-reference/list-available-models */
const TokenPrice = z
  .string()
  .max(30)
  .regex(/^\d+(\.\d+)?(e-\d{1,2})?$/i)
const ListedPricing = z.object({ prompt: TokenPrice, completion: TokenPrice })

function parsePrice(pricing: unknown): ModelPrice | undefined {
  const listed = ListedPricing.safeParse(pricing)
  if (!listed.success) return undefined
  const { prompt, completion } = listed.data
  return ModelPrice.safeParse({
    input_per_million: toPricePerMillion(prompt),
    output_per_million: toPricePerMillion(completion),
  }).data
}

/** Converts to a price per million tokens, rounded up to a millionth of a dollar. */
function toPricePerMillion(perToken: string): number {
  const picoUsd = Math.ceil(Number((Number(perToken) * 1e12).toFixed(3)))
  return picoUsd / 1e6
}
