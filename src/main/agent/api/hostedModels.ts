import { type Exchange, splitUrl } from '#platform/http/exchange.ts'
import { createRouter } from '#platform/http/router.ts'
import { AppError } from '#shared/appError.ts'
import { createChatCompletion, createEmbeddings, createMessage, createResponse } from '#shared/contract/inference.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'

/** Applies the stop switch to models of a remote service, which does not know the switch. */
export type HostedModels = {
  /**
   * Forwards a request to the service. Aborts a running completion when the user stops everything.
   * @throws AppError `intent/stopped`, and errors of `forward`
   */
  forward(exchange: Exchange, forward: () => Promise<void>): Promise<void>
  close(): void
}

type Options = {
  link: Pick<ServiceLink, 'status'>
  events: Pick<LocalEvents, 'subscribe'>
  /** Defaults to never. */
  isStopped: (() => boolean) | undefined
}

/** Matches paths like the service: an escaped letter or a fragment reaches the same model. */
const completions = createRouter(
  [createChatCompletion, createResponse, createMessage, createEmbeddings].map(({ method, path }) => ({
    method,
    path,
    to: true,
  })),
)

export function createHostedModels({ link, events, isStopped }: Options): HostedModels {
  const running = new Set<Exchange>()
  const close = events.subscribe((event) => {
    if (event.type !== 'policy.changed' || !event.policy.stopped) return
    for (const exchange of running) exchange.abort(stop(exchange))
  })
  return {
    close,
    async forward(exchange, forward) {
      const { method = 'GET', url = '/' } = exchange.request
      const isCompletion = method === 'POST' && completions.has('POST', splitUrl(url).path)
      if (!isCompletion || link.status().kind !== 'hosted') return await forward()
      if (isStopped?.()) throw stop(exchange)
      running.add(exchange)
      try {
        await forward()
      } catch (error) {
        throw exchange.abortError ?? error
      } finally {
        running.delete(exchange)
      }
    },
  }
}

function stop(exchange: Exchange): AppError {
  exchange.failureBody = toModelErrorBody
  return new AppError('intent/stopped', 'Everything is stopped.')
}

/** Formats an error for clients of both OpenAI and Anthropic. */
function toModelErrorBody({ message, code }: AppError): object {
  return { type: 'error', error: { type: 'permission_error', message, code, param: null } }
}
