import { estimateInput } from './billing/usageEstimate.ts'
import { withUnfetchedImages } from './canonical/fetchedImages.ts'
import { requireModelKind } from './catalogue/modelKind.ts'
import { readCountRequest } from './dialects/messagesRequest.ts'
import type { GatewayDependencies } from './gateway.ts'
import { createUnknownModelError } from './inferenceError.ts'
import { getCount, type JsonObject, parseJsonObject } from './json.ts'
import { filterFields } from './passthrough/fieldShape.ts'
import { messagesFields } from './passthrough/messagesFields.ts'
import { messagesPassthrough } from './passthrough/messagesPassthrough.ts'
import { createCredentialHeaders } from './providers/credentialHeaders.ts'
import { readErrorText } from './providers/upstreamPools.ts'
import { toUpstreamError } from './upstreams/upstreamFailure.ts'

export type TokenCounter = (body: JsonObject, signal: AbortSignal) => Promise<number>

type Options = Pick<GatewayDependencies<unknown>, 'modelNamed' | 'findProvider' | 'pools'>

/** Counts the tokens of a Messages request before it is sent. Anthropic counts for its own models, free of charge. */
export function createTokenCounter({ modelNamed, findProvider, pools }: Options): TokenCounter {
  return async (body, signal) => {
    const request = readCountRequest(body)
    const model = modelNamed(request.model)
    if (!model) throw createUnknownModelError(request.model)
    requireModelKind(model, 'chat')
    const provider = model.quirks.countsTokens ? findProvider(model) : undefined
    if (!provider) return await estimateInput(withUnfetchedImages(request))
    const { body: passable } = filterFields(body, messagesFields)
    const written = messagesPassthrough.write(passable, request, { model, maxOutputTokens: model.maxOutputTokens })
    const { max_tokens: _, stream: __, temperature: ___, top_p: ____, top_k: _____, ...counted } = written.body
    const reply = await pools.send({
      url: `${provider.baseUrl.replace(/\/+$/, '')}/v1/messages/count_tokens`,
      headers: { ...written.headers, ...createCredentialHeaders(model, provider.apiKey) },
      body: JSON.stringify(counted),
      signal,
    })
    const text = await readErrorText(reply.body)
    const tokens = getCount(parseJsonObject(text), 'input_tokens')
    if (reply.status === 200 && tokens !== undefined) return tokens
    throw toUpstreamError({ status: reply.status, body: text, retryAfter: reply.headers['retry-after'] })
  }
}
