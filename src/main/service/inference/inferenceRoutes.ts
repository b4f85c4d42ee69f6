import { createBytesAnswer } from '#platform/http/answers.ts'
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
import {
  type Caller,
  createEndpoint,
  createRawEndpoint,
  type Endpoint,
  type RawCall,
  withWork,
} from '../base/endpoint.ts'
import type { ListedModels } from './catalogue/listedModels.ts'
import { chatDialect } from './dialects/chatDialect.ts'
import type { Dialect } from './dialects/dialect.ts'
import { messagesDialect } from './dialects/messagesDialect.ts'
import { responsesDialect } from './dialects/responsesDialect.ts'
import type { EmbeddingsGateway } from './embeddings/embeddingsGateway.ts'
import type { createGateway } from './gateway.ts'
import { createUnknownModelError, toInferenceError } from './inferenceError.ts'
import type { ResponseItems } from './responseItems.ts'
import type { TokenCounter } from './tokenCounter.ts'

/** Proxies close connections that are silent for longer, most after 30 or 60 s. Models may think for minutes. */
const defaultHeartbeatMs = 15_000
/** A comment, which clients ignore. */
const heartbeatComment = ': thinking\n\n'

type Options = {
  gateway: ReturnType<typeof createGateway<Caller>>
  embed: EmbeddingsGateway<Caller>
  countTokens: TokenCounter
  listed: ListedModels
  items: ResponseItems
}

/**
 * Creates the endpoints of models, for every caller with a key or a sign-in. Errors have the format of the path's
 * dialect.
 */
export function createInferenceRoutes({ gateway: answers, embed, countTokens, listed, items }: Options): Endpoint[] {
  const createHandler = (route: Route, dialect: Dialect) =>
    toCompletionEndpoint(
      createRawEndpoint(route, async ({ body }: Parsed<Route>, call: RawCall) => {
        const itemStore = dialect.name === 'responses' ? items.forAccount(call.caller.accountId) : undefined
        const answer = await answers.answer({
          dialect,
          body: itemStore?.resolve(body) ?? body,
          ...(itemStore && body.store !== false && { onOutput: itemStore.store }),
          caller: call.caller,
          signal: call.signal,
          abort: call.abort,
          betas: [call.headers['anthropic-beta'] ?? []].flat().join(','),
        })
        if (answer.kind === 'json') {
          for (const [name, value] of Object.entries(answer.headers)) call.setHeader(name, value)
          return answer.body
        }
        return createBytesAnswer({
          headers: { ...eventHeaders, ...answer.headers },
          body: withHeartbeats(answer.frames),
        })
      }),
      dialect,
    )
  return [
    createHandler(createChatCompletion, chatDialect),
    createHandler(createResponse, responsesDialect),
    createHandler(createMessage, messagesDialect),
    withDialectErrors(
      createEndpoint(countMessageTokens, async ({ body }, { signal }) => ({
        input_tokens: await countTokens(body, signal),
      })),
      messagesDialect,
    ),
    toCompletionEndpoint(
      createRawEndpoint(createEmbeddings, async ({ body }, { caller, signal, abort, setHeader }) => {
        const answer = await embed({ body, caller, signal, abort })
        for (const [name, value] of Object.entries(answer.headers)) setHeader(name, value)
        return answer.body
      }),
      chatDialect,
    ),
    withDialectErrors(
      createEndpoint(listModels, () => listed()),
      chatDialect,
    ),
    withDialectErrors(
      createEndpoint(getModel, ({ params }) => {
        const model = listed().data.find(({ id }) => id === params.model)
        if (!model) throw createUnknownModelError(params.model)
        return model
      }),
      chatDialect,
    ),
  ]
}

const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // disables buffering in nginx
} as const

function toCompletionEndpoint(endpoint: Endpoint, dialect: Dialect): Endpoint {
  return withWork('completion', withDialectErrors(endpoint, dialect))
}

function withDialectErrors(endpoint: Endpoint, dialect: Dialect): Endpoint {
  return { ...endpoint, failureBody: (error: AppError) => dialect.writeFailure(toInferenceError(error)) }
}

/** Yields the frames, and a comment after each interval without one. */
async function* withHeartbeats(frames: AsyncGenerator<string>, everyMs = defaultHeartbeatMs): AsyncGenerator<string> {
  try {
    let next = frames.next()
    while (true) {
      const frame = await withTimeout(next, everyMs)
      if (frame === undefined) {
        yield heartbeatComment
        continue
      }
      if (frame.done) return
      yield frame.value
      next = frames.next()
    }
  } finally {
    await frames.return(undefined)
  }
}

/** @returns undefined after the timeout */
async function withTimeout<T>(pending: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([pending, late])
  } finally {
    clearTimeout(timer)
  }
}
