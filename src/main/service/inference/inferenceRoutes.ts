import { bytesAnswer } from '#platform/http/answers.ts'
import type { AppError } from '#shared/appError.ts'
import {
  countMessageTokens,
  createChatCompletion,
  createEmbeddings,
  createMessage,
  createResponse,
  getModel,
  listModels,
} from '#shared/contract/inference.ts'
import type { Parsed, Route } from '#shared/contract/route.ts'
import { type Caller, type Endpoint, endpoint, type RawCall, rawEndpoint, withWork } from '../base/endpoint.ts'
import { chatDialect } from './dialects/chatDialect.ts'
import type { Dialect } from './dialects/dialect.ts'
import { messagesDialect } from './dialects/messagesDialect.ts'
import { responsesDialect } from './dialects/responsesDialect.ts'
import type { EmbeddingsGateway } from './embeddings/embeddingsGateway.ts'
import type { gateway } from './gateway.ts'
import { withHeartbeats } from './heartbeats.ts'
import { asInferenceError, unknownModel } from './inferenceError.ts'
import type { ListedModels } from './listedModels.ts'
import type { ResponseItems } from './responseItems.ts'
import type { TokenCounter } from './tokenCounter.ts'

type Options = {
  gateway: ReturnType<typeof gateway<Caller>>
  embed: EmbeddingsGateway<Caller>
  countTokens: TokenCounter
  listed: ListedModels
  items: ResponseItems
}

/** Who can ask: everybody with a key or a sign-in. Whatever goes wrong is told in the dialect of the path. */
export function inferenceRoutes({ gateway: answers, embed, countTokens, listed, items }: Options): Endpoint[] {
  const answered = (route: Route, dialect: Dialect) =>
    completionIn(
      rawEndpoint(route, async ({ body }: Parsed<Route>, call: RawCall) => {
        const own = dialect.name === 'responses' ? items.of(call.caller.accountId) : undefined
        const answer = await answers.answer({
          dialect,
          body: own?.resolve(body) ?? body,
          ...(own && body.store !== false && { onOutput: own.store }),
          caller: call.caller,
          signal: call.signal,
          abort: call.abort,
          betas: [call.headers['anthropic-beta'] ?? []].flat().join(','),
        })
        if (answer.kind === 'json') {
          for (const [name, value] of Object.entries(answer.headers)) call.setHeader(name, value)
          return answer.body
        }
        return bytesAnswer({
          headers: { ...eventHeaders, ...answer.headers },
          body: withHeartbeats(answer.frames),
        })
      }),
      dialect,
    )
  return [
    answered(createChatCompletion, chatDialect),
    answered(createResponse, responsesDialect),
    answered(createMessage, messagesDialect),
    inDialect(
      endpoint(countMessageTokens, async ({ body }, { signal }) => ({ input_tokens: await countTokens(body, signal) })),
      messagesDialect,
    ),
    completionIn(
      rawEndpoint(createEmbeddings, async ({ body }, { caller, signal, abort, setHeader }) => {
        const answer = await embed({ body, caller, signal, abort })
        for (const [name, value] of Object.entries(answer.headers)) setHeader(name, value)
        return answer.body
      }),
      chatDialect,
    ),
    inDialect(
      endpoint(listModels, () => listed()),
      chatDialect,
    ),
    inDialect(
      endpoint(getModel, ({ params }) => {
        const model = listed().data.find(({ id }) => id === params.model)
        if (!model) throw unknownModel(params.model)
        return model
      }),
      chatDialect,
    ),
  ]
}

const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // nginx would collect what is meant to be seen as it comes
} as const

function completionIn(made: Endpoint, dialect: Dialect): Endpoint {
  return withWork('completion', inDialect(made, dialect))
}

function inDialect(it: Endpoint, dialect: Dialect): Endpoint {
  return { ...it, failureBody: (failure: AppError) => dialect.writeFailure(asInferenceError(failure)) }
}
